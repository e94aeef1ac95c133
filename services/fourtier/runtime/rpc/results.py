"""What comes of a message: an answer, an acknowledgement, or an entry in the dead-letter queue.

A message is acknowledged after its results are out: answered, or stored in the dead-letter queue
with the reason.
"""

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

from fourtier.runtime import telemetry
from fourtier.runtime.bus.contract import Address, Bus, BusError, Delivery, RejectedByBusError
from fourtier.runtime.errors import (
    FourtierError,
    MalformedError,
    OverloadedError,
    RejectedByPolicyError,
)
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redact, redacted_log
from fourtier.runtime.privacy.redactor import redact_json
from fourtier.runtime.rpc import envelope, instrumentation
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address, dead_letter_properties
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.retry import is_temporary, wants_traceback
from fourtier.schema.message import Answer, Error, Message
from fourtier.schema.topics import Topic

log = logging.getLogger(__name__)

#: Pauses between attempts to reach the dead-letter queue when the bus is unavailable.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
#: An error may quote a payload of megabytes; so many characters of it are passed on.
_MAX_REASON = 2_000
#: Of the key of a message that is stored in part only.
_MAX_KEY = 512


class Results:
    """Sends what comes of the messages of one topic.

    Args:
        stopping: once it is set, the dead-letter queue is not waited for any more.
        policy: for the personal data of dead letters.
    """

    def __init__(
        self,
        bus: Bus,
        service: str,
        topic: Topic[Any],
        stopping: asyncio.Event,
        policy: PrivacyPolicy = PrivacyPolicy(),
    ) -> None:
        self._policy = policy
        self._bus = bus
        self._service = service
        self._topic = topic
        self._stopping = stopping

    async def fail(self, delivery: Delivery, error: Exception, attempts: int) -> None:
        """Store the message with the reason, tell the caller, and only then acknowledge it.

        A query is not stored, whatever is wrong with it: its caller gets the error, and may retry.
        Neither is what is for its caller alone, unless nobody can read it, nor what the flow's
        settings reject.
        """
        kind = error.type if isinstance(error, FourtierError) else type(error).__name__
        reason = redacted_log(_plain(str(error))[:_MAX_REASON]) or kind
        received = Envelope.of(delivery)
        needed = not self._topic.for_caller or isinstance(error, MalformedError)
        rejected = isinstance(error, RejectedByPolicyError)
        stored = self._topic.persistent and needed and not rejected
        log.log(
            logging.ERROR if stored or wants_traceback(error) else logging.WARNING,
            "Message %s on %s %s after %d attempt(s): %s: %s",
            received.id,
            self._topic.name,
            "goes to the dead-letter queue" if stored else "failed",
            attempts,
            kind,
            reason,
            exc_info=error if wants_traceback(error) else None,
            extra={
                "service": self._service,
                "topic": self._topic.name,
                "message_id": received.id,
            },
        )
        if stored and not await self._dead_letter(delivery, f"{kind}: {reason}", attempts):
            return
        failed = Error(
            type=kind,
            message=reason,
            temporary=is_temporary(error),
            retry_after=error.retry_after if isinstance(error, FourtierError) else None,
        )
        await self.reply(received, Answer(error=failed), last=True, error=kind)
        await self.acknowledge(delivery)

    async def shed(self, delivery: Delivery, error: OverloadedError) -> None:
        """Tell the caller that its message is not taken on; it is not stored either."""
        log.info("A message is shed: %s", error, extra={"service": self._service})
        failed = Error(
            type=error.type, message=str(error), retry_after=error.retry_after, temporary=True
        )
        received = Envelope.of(delivery)
        await self.reply(received, Answer(error=failed), last=True, error=error.type)
        instrumentation.count_shed(self._service, self._topic.name)
        await self.acknowledge(delivery)

    async def _dead_letter(self, delivery: Delivery, reason: str, attempts: int) -> bool:
        """Put a message into the dead-letter queue, however long that takes; False when stopping.

        One too large to be stored with its reason loses its payload and then its properties, not
        its reason. The loop is written out, as a stop must end its pauses, which stamina has no
        means for.
        """
        payload = await asyncio.to_thread(_without_personal_data, delivery.payload, self._policy)
        delivery = replace(delivery, payload=payload)
        whole = delivery, *_smaller(delivery)
        queue, size, pause = dead_letter_address(self._service), 0, _FIRST_PAUSE
        while True:
            letter = whole[size]
            properties = dead_letter_properties(self._topic, letter, reason, attempts)
            try:
                await self._bus.publish(
                    queue, letter.payload, key=letter.key, properties=properties
                )
            except BusError as error:
                if isinstance(error, RejectedByBusError) and size < len(whole) - 1:
                    log.warning("A dead letter is stored in part only: %s", error)
                    size += 1
                    continue
                log.warning("The dead-letter queue is unavailable, again in %g s: %s", pause, error)
                if await ends_within(self._stopping, pause):
                    return False
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                instrumentation.count_dead_letter(self._service, self._topic.name)
                return True

    async def reply(
        self,
        received: Envelope,
        result: Message,
        *,
        last: bool,
        error: str = "",
        sequence: int | None = None,
    ) -> None:
        """Answer the caller, if there is one. It retries when the answer gets lost.

        An answer that the bus rejects, as one that is too large, becomes an error that says so.
        """
        if received.reply_to is None:
            return
        properties = {
            envelope.ID: received.id,
            envelope.CALL: received.call,
            envelope.LAST: "true" if last else "false",
        }
        if error:
            properties[envelope.ERROR] = error
        if sequence is not None:
            properties[envelope.SEQUENCE] = str(sequence)
        telemetry.inject(properties)
        local = self._bus.local
        if local is not None and local.answer(received.reply_to, result, properties):
            await asyncio.sleep(0)  # a long stream lets others go on, its caller among them
            return
        payload = result.model_dump_json().encode()
        try:
            await self._bus.publish(
                Address(received.reply_to, persistent=False), payload, properties=properties
            )
        except RejectedByBusError as failure:
            log.error(  # noqa: TRY400 - the bus says all there is to say
                "The answer to message %s on %s of %d bytes was rejected: %s",
                received.id,
                self._topic.name,
                len(payload),
                failure,
                extra={"service": self._service, "message_id": received.id},
            )
            if not error:
                await self._reply_rejected(received, len(payload), failure)
        except BusError as failure:
            log.warning("An answer to %s could not be sent: %s", received.reply_to, failure)

    async def _reply_rejected(self, received: Envelope, size: int, failure: Exception) -> None:
        message = (
            f"the answer of {size:,} bytes was rejected by the bus: {failure}; "
            f"ask for less, such as a smaller limit"
        )
        failed = Answer(error=Error(type="answer-rejected", message=message))
        await self.reply(received, failed, last=True, error="answer-rejected")

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


def _smaller(delivery: Delivery) -> tuple[Delivery, Delivery]:
    """What is left of a message that the dead-letter queue does not take as it is."""
    without_payload = replace(delivery, payload=b"")
    received = Envelope.of(delivery)
    properties = {envelope.ID: received.id}
    return without_payload, replace(
        without_payload, properties=properties, key=delivery.key[:_MAX_KEY]
    )


def _without_personal_data(payload: bytes, policy: PrivacyPolicy) -> bytes:
    """The payload as memory would have written it, so that a replay leaves the same behind."""
    text = payload.decode("utf-8", "replace")
    try:
        before = json.loads(text)
        after = redact_json(before, policy)
    except (ValueError, RecursionError):  # not a message at all: nobody replays it
        redacted = redact(text, policy)
        return redacted.text.encode() if redacted.counts else payload
    return payload if after is before else json.dumps(after).encode()


def _plain(text: str) -> str:
    """Text that can be sent: an error may quote what is not valid Unicode."""
    return text.encode("utf-8", "replace").decode("utf-8")
