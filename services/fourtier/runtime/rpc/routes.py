"""What is served: a topic and the function that handles its messages, with its limits."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.rpc.retry import Retry
from fourtier.schema.message import Message
from fourtier.schema.topics import Call, Topic

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: Handles one message; gives back what is answered, None where there is no answer.
SingleHandler = Callable[[Any], Awaitable[Message | None]]
#: Handles one message; yields what is answered.
StreamHandler = Callable[[Any], AsyncIterator[Message]]
#: Handles a batch of messages; one answer for each, None where there are no answers.
BatchHandler = Callable[[Sequence[Any]], Awaitable[Sequence[Message] | None]]


@dataclass(frozen=True, slots=True)
class Route:
    """One topic of a service and what is done with its messages, by one of three handlers.

    Attributes:
        max_concurrency: how many messages are handled at once; those with one key never are.
        max_batch_size: for `batch`.
        max_in_flight: messages beyond that are shed where a caller gets the error; None sheds
            nothing, and leaves the rest to the broker.
        last: recognises the last answer of a stream; None where there is one answer.
        timeout: seconds that an attempt may go on without progress; None for the flow's limit.
    """

    topic: Topic[Any]
    single: SingleHandler | None = None
    stream: StreamHandler | None = None
    batch: BatchHandler | None = None
    max_concurrency: int = 16
    max_batch_size: int = 64
    retry: Retry = Retry()
    last: Callable[[Any], bool] | None = None
    max_in_flight: int | None = None
    timeout: float | None = None


def cancel_address(topic: Topic[Any]) -> Address:
    """Where callers say that they do not wait any more for what they asked on a topic."""
    return Address(f"{topic.name}.cancel", persistent=False)


def event_route(
    topic: Topic[M],
    handler: Callable[[M], Awaitable[None]],
    *,
    max_concurrency: int = 16,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Route:
    """Handle each message of a topic."""
    return Route(
        topic, single=handler, max_concurrency=max_concurrency, retry=retry, timeout=timeout
    )


def event_batch_route(
    topic: Topic[M],
    handler: Callable[[Sequence[M]], Awaitable[None]],
    *,
    max_batch_size: int = 64,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Route:
    """Handle messages of a topic in batches of what has arrived."""
    return Route(topic, batch=handler, max_batch_size=max_batch_size, retry=retry, timeout=timeout)


def call_route(
    call: Call[Q, A],
    handler: Callable[[Q], Awaitable[A]],
    *,
    max_concurrency: int = 16,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Route:
    """Answer each call with one message."""
    return Route(
        call.topic, single=handler, max_concurrency=max_concurrency, retry=retry, timeout=timeout
    )


def call_batch_route(
    call: Call[Q, A],
    handler: Callable[[Sequence[Q]], Awaitable[Sequence[A]]],
    *,
    max_batch_size: int = 64,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Route:
    """Answer calls in batches of what has arrived; one answer for each question, in order."""
    return Route(
        call.topic, batch=handler, max_batch_size=max_batch_size, retry=retry, timeout=timeout
    )


def stream_route(
    call: Call[Q, A],
    handler: Callable[[Q], AsyncIterator[A]],
    *,
    max_concurrency: int = 16,
    max_in_flight: int | None = None,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Route:
    """Answer each call with a stream, whose last message the call recognises.

    Raises:
        TypeError: the call answers with one message.
    """
    if call.last is None:
        raise TypeError(f"{call.topic.name} answers with one message: use call_route()")
    return Route(
        call.topic,
        stream=handler,
        max_concurrency=max_concurrency,
        retry=retry,
        last=call.last,
        max_in_flight=max_in_flight,
        timeout=timeout,
    )
