"""A call that waits for its answer: what was sent for it, and what has come back."""

import asyncio
from typing import Any, TypeVar

from pydantic import ValidationError

from fourtier.runtime.bus.contract import BusError, Delivery
from fourtier.runtime.errors import (
    CallFailedError,
    DeadlineExceededError,
    LostAnswerError,
    PermanentError,
)
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.incoming import message_of
from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: Answers that arrive faster than they are read; a stream that is further behind fails.
_MAX_UNREAD = 10_000


class PendingCall:
    """One call, from its question to its last answer.

    Attributes:
        properties: of the message that asks.
        ended: whether the last message of a stream has come.
        lost: whether answers were dropped, as too many were unread.
    """

    def __init__(self, call: Call[Any, Any], properties: dict[str, str]) -> None:
        self.properties = properties
        self.answers: asyncio.Queue[Delivery | BusError] = asyncio.Queue()
        self.ended = False
        self.lost = False
        self._call = call
        self._sequence = 0

    def take(self, delivery: Delivery) -> None:
        """An answer has come in; behind one that was dropped, none is taken any more."""
        self.lost = self.lost or self.answers.qsize() >= _MAX_UNREAD
        if not self.lost:
            self.answers.put_nowait(delivery)

    async def next(self, seconds: float) -> Delivery:
        """Wait for the next answer.

        Raises:
            DeadlineExceededError: none came in time.
            BusError: no answer can come in any more.
        """
        try:
            async with asyncio.timeout(seconds):
                answer = await self.answers.get()
        except TimeoutError:
            raise DeadlineExceededError(self._call.topic.name, self._call.deadline) from None
        if isinstance(answer, BusError):
            raise answer
        return answer

    def check_sequence(self, delivery: Delivery) -> None:
        """See that no message of a stream is missing, and whether it is the last one.

        What is persistent may be handled again from its beginning, and its last message stands for
        the whole.

        Raises:
            LostAnswerError: one is missing, or messages of another attempt came in between.
        """
        self.ended = delivery.properties.get(envelope.LAST) == "true"
        expected, self._sequence = str(self._sequence), self._sequence + 1
        topic = self._call.topic
        if (
            not topic.persistent
            and delivery.properties.get(envelope.SEQUENCE, expected) != expected
        ):
            raise LostAnswerError(topic.name)


def read_answer(call: Call[Q, A], delivery: Delivery) -> A:
    """The answer that a delivery carries.

    Raises:
        CallFailedError: the service answered with an error.
        PermanentError: it is not what the call answers with.
    """
    try:
        if envelope.ERROR in delivery.properties:
            failed = message_of(delivery, Answer).error
            if failed is not None:
                raise CallFailedError(call.topic.name, failed)
        return message_of(delivery, call.answer)
    except ValidationError as error:
        raise PermanentError(
            f"{call.topic.name} answered what is not a {call.answer.__name__}: {error}"
        ) from error
