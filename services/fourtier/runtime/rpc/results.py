"""What comes of a message: an answer, an acknowledgement, or a place in the dead letters.

A message is acknowledged after its results are out: answered, or kept by the dead letters together
with the reason.
"""

import asyncio
import logging
from typing import Any

from fourtier.runtime.bus.contract import Address, Bus, BusError, Delivery
from fourtier.runtime.errors import FourtierError, MalformedError, OverloadedError
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc import instrumentation as telemetry
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address, dead_letter_properties
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.retry import is_temporary
from fourtier.schema.message import Answer, Error, Message
from fourtier.schema.topics import Topic

log = logging.getLogger(__name__)

#: Pauses between attempts to reach the dead letters when the bus is away.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


class Results:
    """Sends what comes of the messages of one topic.

    Args:
        stopping: once it is set, the dead letters are not waited for any more.
    """

    def __init__(self, bus: Bus, service: str, topic: Topic[Any], stopping: asyncio.Event) -> None:
        self._bus = bus
        self._service = service
        self._topic = topic
        self._stopping = stopping

    async def give_up(self, delivery: Delivery, error: Exception, attempts: int) -> None:
        """Keep the message with the reason, tell the caller, and only then acknowledge it."""
        kind = error.type if isinstance(error, FourtierError) else type(error).__name__
        reason = _plain(str(error)) or kind
        if self._topic.persistent or isinstance(error, MalformedError):
            log.error(
                "A message on %s goes to the dead letters after %d attempt(s): %s: %s",
                self._topic.name,
                attempts,
                kind,
                reason,
                extra={
                    "service": self._service,
                    "topic": self._topic.name,
                    "message_id": delivery.id,
                },
            )
            if not await self._bury(delivery, f"{kind}: {reason}", attempts):
                return
        failed = Answer(error=Error(type=kind, message=reason, temporary=is_temporary(error)))
        around = Envelope.of(delivery.properties, delivery.id)
        await self.reply(around, failed, last=True, error=kind)
        await self.acknowledge(delivery)

    async def refuse(self, delivery: Delivery, error: OverloadedError) -> None:
        """Tell the caller that its message is not taken on; it is not kept either."""
        log.info("A message is refused: %s", error, extra={"service": self._service})
        failed = Error(
            type=error.type, message=str(error), retry_after=error.retry_after, temporary=True
        )
        around = Envelope.of(delivery.properties, delivery.id)
        await self.reply(around, Answer(error=failed), last=True, error=error.type)
        telemetry.count_refused(self._service, self._topic.name)
        await self.acknowledge(delivery)

    async def _bury(self, delivery: Delivery, reason: str, attempts: int) -> bool:
        """Put a message into the dead letters, however long that takes; False when stopping."""
        properties = dead_letter_properties(self._topic, delivery, reason, attempts)
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._bus.publish(
                    dead_letter_address(self._service),
                    delivery.payload,
                    key=delivery.key,
                    properties=properties,
                )
            except BusError as error:
                log.warning("The dead letters cannot be reached, again in %g s: %s", pause, error)
                if await ends_within(self._stopping, pause):
                    return False
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                telemetry.count_dead_letter(self._service, self._topic.name)
                return True

    async def reply(
        self,
        around: Envelope,
        result: Message,
        *,
        last: bool,
        error: str = "",
        piece: int | None = None,
    ) -> None:
        """Answer the caller, if somebody waits. A lost answer is asked for again by its caller."""
        if around.reply_to is None:
            return
        properties = {envelope.ID: around.id, envelope.LAST: "true" if last else "false"}
        if error:
            properties[envelope.ERROR] = error
        if piece is not None:
            properties[envelope.PIECE] = str(piece)
        telemetry.inject(properties)
        payload = result.model_dump_json().encode()
        try:
            await self._bus.publish(
                Address(around.reply_to, persistent=False), payload, properties=properties
            )
        except BusError as failure:
            log.warning("An answer to %s could not be sent: %s", around.reply_to, failure)

    async def acknowledge(self, delivery: Delivery) -> None:
        """Tell the bus that a message is done."""
        try:
            await delivery.acknowledge()
        except BusError as error:
            log.warning("A message on %s is done, but %s", self._topic.name, error)


async def ends_within(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event came within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _plain(text: str) -> str:
    """Text that can be sent: an error may quote what is no valid Unicode."""
    return text.encode("utf-8", "replace").decode("utf-8")
