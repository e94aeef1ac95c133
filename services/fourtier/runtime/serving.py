"""The serving loop: take messages of a route, hand them to its handler, answer, acknowledge.

The one place that catches what handlers raise. A message is acknowledged after its results are out:
answered, or kept by the dead letters together with the reason.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from fourtier.runtime import envelope, telemetry
from fourtier.runtime.bus.contract import Address, Bus, BusError, Delivery, Mode, Subscription
from fourtier.runtime.envelope import Envelope
from fourtier.runtime.errors import FourtierError, MalformedError
from fourtier.runtime.lanes import Lanes
from fourtier.runtime.routes import Route
from fourtier.schema.message import Answer, Error, Message

log = logging.getLogger(__name__)

DEAD_LETTERS = "dead-letters"


def dead_letter_address(service: str) -> Address:
    """Where a service puts what it could not handle."""
    return Address(f"{DEAD_LETTERS}.{service}")


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A delivery whose payload could be read."""

    delivery: Delivery
    envelope: Envelope
    message: Message


class Server:
    """Serves the routes of one service until it is told to stop.

    Args:
        service: the service's name: its group on every topic.
    """

    def __init__(self, bus: Bus, service: str) -> None:
        self._bus = bus
        self._service = service
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Take no more messages; what is in hand is finished."""
        self._stopping.set()

    async def serve(self, route: Route, subscribed: asyncio.Event) -> None:
        """Handle a route's messages; sets `subscribed` once messages are kept for it."""
        topic = route.topic
        address = Address(topic.name, persistent=topic.persistent)
        mode = Mode.KEY_SHARED if topic.key and topic.persistent else Mode.SHARED
        async with self._bus.subscribe(address, self._service, mode) as subscription:
            subscribed.set()
            async with asyncio.TaskGroup() as group:
                lanes = Lanes(group, route.side_by_side)
                while (first := await self._receive(subscription)) is not None:
                    if route.together is None:
                        await lanes.put(first.key, partial(self._handle, route, first))
                    else:
                        batch = [first, *subscription.arrived(route.most - 1)]
                        await self._handle_together(route, batch)

    async def _receive(self, subscription: Subscription) -> Delivery | None:
        """The next message, or None when stopping."""
        if self._stopping.is_set():
            return None
        if here := subscription.arrived(1):
            return here[0]
        receiving = asyncio.ensure_future(subscription.receive())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([receiving, stopping], return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else None
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _open(self, route: Route, delivery: Delivery) -> _Incoming | None:
        """Read a payload; what cannot be read goes to the dead letters at once."""
        around = Envelope.of(delivery.properties, delivery.id)
        if around.expired and not route.topic.persistent:
            telemetry.count_expired(self._service, route.topic.name)
            return None
        try:
            message = route.topic.payload.model_validate_json(delivery.payload)
        except ValidationError as error:
            await self._give_up(route, delivery, MalformedError(_in_words(error)), attempts=1)
            return None
        return _Incoming(delivery, around, message)

    async def _handle(self, route: Route, delivery: Delivery) -> None:
        incoming = await self._open(route, delivery)
        if incoming is not None:
            await self._handle_opened(route, incoming)

    async def _handle_together(self, route: Route, deliveries: Sequence[Delivery]) -> None:
        """Handle a batch; if it fails, handle its messages one by one, with their own retries."""
        opened = [await self._open(route, delivery) for delivery in deliveries]
        batch = [incoming for incoming in opened if incoming is not None]
        if len(batch) > 1:
            try:
                with telemetry.handling(
                    self._service, route.topic.name, [incoming.delivery for incoming in batch]
                ):
                    await self._run_together(route, batch)
            except Exception as error:  # noqa: BLE001 - decided below, message by message
                log.warning(
                    "A batch of %d on %s failed and is handled one by one: %s",
                    len(batch),
                    route.topic.name,
                    error,
                )
            else:
                for incoming in batch:
                    await incoming.delivery.acknowledge()
                return
        for incoming in batch:
            await self._handle_opened(route, incoming)

    async def _handle_opened(self, route: Route, incoming: _Incoming) -> None:
        """Try until it is done or given up; messages with the same key wait meanwhile."""
        attempt = 1
        with telemetry.handling(self._service, route.topic.name, [incoming.delivery]) as span:
            while True:
                try:
                    await self._run(route, incoming)
                except Exception as error:  # noqa: BLE001 - the one place that decides what a failure means
                    pause = self._decide(route, incoming.envelope, attempt, error)
                    if pause is None:
                        span.fail(error)
                        await self._give_up(route, incoming.delivery, error, attempt)
                        return
                    span.retry(error)
                    await asyncio.sleep(pause)
                    attempt += 1
                else:
                    await incoming.delivery.acknowledge()
                    return

    async def _run(self, route: Route, incoming: _Incoming) -> None:
        envelope.set_handling(incoming.envelope)
        if route.single is None:
            await self._run_together(route, [incoming])
            return
        async for result in route.single(incoming.message):
            last = route.last is None or route.last(result)
            await self._reply(incoming.envelope, result, last=last)

    async def _run_together(self, route: Route, batch: Sequence[_Incoming]) -> None:
        if route.together is None:
            raise TypeError(f"the route of {route.topic.name} has no handler")
        results = await route.together([incoming.message for incoming in batch])
        for incoming, result in zip(batch, results, strict=True):
            if result is not None:
                await self._reply(incoming.envelope, result, last=True)

    def _decide(
        self, route: Route, around: Envelope, attempt: int, error: Exception
    ) -> float | None:
        """Seconds until the next attempt, None to give up. A read is retried by its caller."""
        if not route.topic.persistent:
            return None
        pause = route.retry.pause(attempt, error)
        if pause is not None:
            log.warning(
                "Handling %s on %s failed (attempt %d), again in %.1f s: %s",
                around.id,
                route.topic.name,
                attempt,
                pause,
                error,
                extra={"service": self._service, "topic": route.topic.name, "attempt": attempt},
            )
        return pause

    async def _give_up(
        self, route: Route, delivery: Delivery, error: Exception, attempts: int
    ) -> None:
        """Tell the caller, keep the message with the reason, and only then acknowledge it."""
        around = Envelope.of(delivery.properties, delivery.id)
        error_type = error.type if isinstance(error, FourtierError) else type(error).__name__
        if route.topic.persistent or isinstance(error, MalformedError):
            await self._bury(route, delivery, error_type, str(error), attempts)
        failed = Answer(error=Error(type=error_type, message=str(error) or error_type))
        await self._reply(around, failed, last=True, error=error_type)
        await delivery.acknowledge()

    async def _bury(
        self, route: Route, delivery: Delivery, error_type: str, reason: str, attempts: int
    ) -> None:
        log.error(
            "A message on %s went to the dead letters after %d attempt(s): %s: %s",
            route.topic.name,
            attempts,
            error_type,
            reason,
            extra={"service": self._service, "topic": route.topic.name, "message_id": delivery.id},
        )
        telemetry.count_dead_letter(self._service, route.topic.name)
        properties = dict(delivery.properties) | {
            "dead-topic": route.topic.name,
            "dead-key": delivery.key,
            "dead-kept": "true" if route.topic.persistent else "false",
            "dead-error": f"{error_type}: {reason}"[:2_000],
            "dead-attempts": str(attempts),
            "dead-at": str(int(time.time() * 1000)),
        }
        await self._bus.publish(
            dead_letter_address(self._service),
            delivery.payload,
            key=delivery.key,
            properties=properties,
        )

    async def _reply(
        self, around: Envelope, result: Message, *, last: bool, error: str = ""
    ) -> None:
        """Answer the caller, if somebody waits. A lost answer is asked for again by its caller."""
        if around.reply_to is None:
            return
        properties = {envelope.ID: around.id, envelope.LAST: "true" if last else "false"}
        if error:
            properties[envelope.ERROR] = error
        telemetry.inject(properties)
        try:
            await self._bus.publish(
                Address(around.reply_to, persistent=False),
                result.model_dump_json().encode(),
                properties=properties,
            )
        except BusError as failure:
            log.warning("An answer to %s could not be sent: %s", around.reply_to, failure)


def _in_words(error: ValidationError) -> str:
    """Name each wrong field, without repeating the payload."""
    wrong = "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'payload'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return f"is no valid {error.title}: {wrong}"
