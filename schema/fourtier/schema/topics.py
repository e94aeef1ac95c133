"""How a message travels: one-way topics and calls, each declared once beside its payload."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fourtier.schema.message import Message, Scoped

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


def by_scope(message: Scoped) -> str:
    """Key by which one scope's messages stay in order."""
    return message.scope.key


@dataclass(frozen=True, slots=True)
class Topic(Generic[M]):
    """Where one kind of message goes.

    Attributes:
        name: the last part of the topic's address; imperative for commands, past tense for events.
        payload: the model on it.
        key: messages with the same key are handled one after another; None where order is free.
        persistent: stored by the broker until acknowledged. False for queries.
        for_caller: the answer is all that a message is for. Where its caller has gone it is not
            handled, and one that fails is neither tried again nor put into the dead-letter queue.
    """

    name: str
    payload: type[M]
    key: Callable[[M], str] | None = None
    persistent: bool = True
    for_caller: bool = False


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, A]):
    """A question on a topic that a service's replicas share, answered to the caller's own inbox.

    A call on a persistent topic may also be sent without waiting for its answer.

    Attributes:
        topic: where the question goes.
        answer: the model that comes back.
        deadline: seconds until the caller stops waiting.
        last: recognises the last message of a stream; None for a call with one answer.
    """

    topic: Topic[Q]
    answer: type[A]
    deadline: float = 5.0
    last: Callable[[A], bool] | None = None


def query(name: str, question: type[Q], answer: type[A], *, deadline: float = 5.0) -> Call[Q, A]:
    """Declare a call that changes nothing: not stored by the broker, retried once if lost."""
    return Call(Topic(name, question, persistent=False), answer, deadline)


def command(
    name: str,
    question: type[Q],
    answer: type[A],
    *,
    key: Callable[[Q], str],
    deadline: float = 30.0,
) -> Call[Q, A]:
    """Declare a call that changes a store: stored by the broker, in order for each key."""
    return Call(Topic(name, question, key=key), answer, deadline)
