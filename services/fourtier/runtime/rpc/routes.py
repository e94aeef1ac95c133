"""What a service handles, as a typed table: the type checker joins topic, payload and handler.

def routes(self) -> Iterator[Route]:
    yield on(INVOCATION_ENDED, self.learn)
    yield answer(RETRIEVE_FACTS, self.retrieve)
    yield stream(COMPLETE, self.complete)
    yield answer_together(STORE_FACT, self.store, most=64)
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fourtier.runtime.rpc.retry import Retry
from fourtier.schema.message import Message
from fourtier.schema.topics import Call, Topic

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: Handles messages that arrived together; one result for each, None where nothing is answered.
Together = Callable[[Sequence[Any]], Awaitable[Sequence[Message | None]]]
#: Handles one message; yields what is answered.
Single = Callable[[Any], AsyncIterator[Message]]


_NO_RESULTS: Sequence[Message] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """One topic of a service and what is done with its messages.

    Attributes:
        side_by_side: how many messages are handled at once; those with one key never are.
        most: for `together`, how many messages make a batch at most.
        most_in_hand: what is beyond that is refused where its caller can be told; None refuses
            nothing, and leaves the rest to the broker.
        last: tells the last answer of a stream; None where there is one answer.
    """

    topic: Topic[Any]
    single: Single | None = None
    together: Together | None = None
    side_by_side: int = 16
    most: int = 64
    retry: Retry = Retry()
    last: Callable[[Any], bool] | None = None
    most_in_hand: int | None = None


def on(
    topic: Topic[M],
    handler: Callable[[M], Awaitable[None]],
    *,
    side_by_side: int = 16,
    retry: Retry = Retry(),
) -> Route:
    """Handle each message of a topic."""

    async def single(message: M) -> AsyncIterator[Message]:
        await handler(message)
        for result in _NO_RESULTS:
            yield result

    return Route(topic, single=single, side_by_side=side_by_side, retry=retry)


def on_together(
    topic: Topic[M],
    handler: Callable[[Sequence[M]], Awaitable[None]],
    *,
    most: int = 64,
    retry: Retry = Retry(),
) -> Route:
    """Handle messages of a topic in batches of what has arrived."""

    async def together(messages: Sequence[M]) -> Sequence[Message | None]:
        await handler(messages)
        return [None] * len(messages)

    return Route(topic, together=together, most=most, retry=retry)


def answer(
    call: Call[Q, A],
    handler: Callable[[Q], Awaitable[A]],
    *,
    side_by_side: int = 16,
    retry: Retry = Retry(),
) -> Route:
    """Answer each call with one message."""

    async def single(question: Q) -> AsyncIterator[Message]:
        yield await handler(question)

    return Route(call.topic, single=single, side_by_side=side_by_side, retry=retry)


def answer_together(
    call: Call[Q, A],
    handler: Callable[[Sequence[Q]], Awaitable[Sequence[A]]],
    *,
    most: int = 64,
    retry: Retry = Retry(),
) -> Route:
    """Answer calls in batches of what has arrived; one answer for each question, in order."""

    async def together(questions: Sequence[Q]) -> Sequence[Message | None]:
        return await handler(questions)

    return Route(call.topic, together=together, most=most, retry=retry)


def stream(
    call: Call[Q, A],
    handler: Callable[[Q], AsyncIterator[A]],
    *,
    side_by_side: int = 16,
    retry: Retry = Retry(),
    most_in_hand: int | None = None,
) -> Route:
    """Answer each call with a stream, whose last piece the call can tell."""
    if call.last is None:
        raise TypeError(f"{call.topic.name} answers with one message: use answer()")
    return Route(
        call.topic,
        single=handler,
        side_by_side=side_by_side,
        retry=retry,
        last=call.last,
        most_in_hand=most_in_hand,
    )
