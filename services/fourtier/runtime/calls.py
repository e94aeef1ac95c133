"""The caller's side: publish messages, ask services and await their answers."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pydantic import ValidationError

from fourtier.runtime import envelope, telemetry
from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.errors import CallFailedError, NoAnswerError, RefusedError
from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import Call, Topic

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: A call that only reads is asked once more when this share of its deadline has passed in silence.
_ASK_AGAIN_AFTER = 0.5


class Caller:
    """Sends on a bus and matches answers, which come to an inbox of its own, by their id.

    Open it with `open_caller`. One caller serves any number of calls at a time.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._inbox = Address(f"inbox.{envelope.new_id()}", persistent=False)
        self._waiting: dict[str, asyncio.Queue[Delivery]] = {}

    async def publish(self, topic: Topic[M], message: M, *, message_id: str = "") -> None:
        """Send one way; returns once the broker has it.

        `message_id` names the message; give one that is made from the cause where a repetition
        must be recognised.

        Raises:
            BusError: the broker did not confirm.
        """
        properties = envelope.properties_for(message)
        if message_id:
            properties[envelope.ID] = message_id
        await self._send(topic, message, properties)

    async def call(self, call: Call[Q, A], question: Q) -> A:
        """Ask and await the one answer.

        Raises:
            CallFailedError: the service answered with an error.
            NoAnswerError: no answer before the call's deadline.
            BusError: the broker did not take the question.
        """
        async for piece in self._ask(call, question):
            return piece
        raise NoAnswerError(call.topic.name, call.deadline)

    async def stream(
        self, call: Call[Q, A], question: Q, *, message_id: str = ""
    ) -> AsyncIterator[A]:
        """Ask and await the pieces of the answer; the deadline holds for each piece.

        Raises: as `call`.
        """
        async for piece in self._ask(call, question, message_id):
            yield piece

    async def _ask(self, call: Call[Q, A], question: Q, message_id: str = "") -> AsyncIterator[A]:
        properties = envelope.properties_for(question)
        if message_id:
            properties[envelope.ID] = message_id
        call_id = properties[envelope.ID]
        properties[envelope.REPLY_TO] = self._inbox.name
        properties[envelope.DEADLINE] = str(int((time.time() + call.deadline) * 1000))
        answers: asyncio.Queue[Delivery] = asyncio.Queue()
        self._waiting[call_id] = answers
        try:
            with telemetry.calling(call.topic.name):
                await self._send(call.topic, question, properties)
                first = await self._first(call, question, properties, answers)
            yield _read(call, first)
            delivery = first
            while delivery.properties.get(envelope.LAST) != "true":
                delivery = await _next(call, answers, call.deadline)
                yield _read(call, delivery)
        finally:
            del self._waiting[call_id]

    async def _first(
        self,
        call: Call[Q, A],
        question: Q,
        properties: dict[str, str],
        answers: asyncio.Queue[Delivery],
    ) -> Delivery:
        if call.topic.persistent or call.last is not None:
            return await _next(call, answers, call.deadline)
        patience = call.deadline * _ASK_AGAIN_AFTER
        try:
            return await _next(call, answers, patience)
        except NoAnswerError:
            await self._send(call.topic, question, properties)
            return await _next(call, answers, call.deadline - patience)

    async def _send(self, topic: Topic[Any], message: Message, properties: dict[str, str]) -> None:
        telemetry.inject(properties)
        await self._bus.publish(
            Address(topic.name, persistent=topic.persistent),
            message.model_dump_json().encode(),
            key=topic.key(message) if topic.key else "",
            properties=properties,
        )

    async def listen(self, inbox: Subscription) -> None:
        """Hand arriving answers to whoever waits; late and repeated ones are dropped."""
        while True:
            delivery = await inbox.receive()
            waiting = self._waiting.get(delivery.properties.get(envelope.ID, ""))
            if waiting is not None:
                waiting.put_nowait(delivery)

    @property
    def inbox(self) -> Address:
        """Where answers come in."""
        return self._inbox


async def _next(call: Call[Q, A], answers: asyncio.Queue[Delivery], seconds: float) -> Delivery:
    try:
        async with asyncio.timeout(seconds):
            return await answers.get()
    except TimeoutError:
        raise NoAnswerError(call.topic.name, call.deadline) from None


def _read(call: Call[Q, A], delivery: Delivery) -> A:
    if envelope.ERROR in delivery.properties:
        failed = Answer.model_validate_json(delivery.payload).error
        if failed is not None:
            raise CallFailedError(call.topic.name, failed.type, failed.message)
    try:
        return call.answer.model_validate_json(delivery.payload)
    except ValidationError as error:
        raise RefusedError(
            f"{call.topic.name} answered what is no {call.answer.__name__}: {error}"
        ) from error


@asynccontextmanager
async def open_caller(bus: Bus) -> AsyncGenerator[Caller]:
    """Open a caller with its inbox; closing it leaves no task and no subscription behind."""
    caller = Caller(bus)
    async with bus.subscribe(caller.inbox, "caller", Mode.EXCLUSIVE) as inbox:
        listening = asyncio.create_task(caller.listen(inbox), name="inbox")
        try:
            yield caller
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
