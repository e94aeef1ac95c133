"""What happens to a message that was taken: it is read, handled, tried again or given up.

The one place that catches what handlers raise.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from fourtier.runtime.bus.contract import Bus, Delivery
from fourtier.runtime.errors import MalformedError, RefusedError
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc import instrumentation as telemetry
from fourtier.runtime.rpc.admission import Admission
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.heartbeat import Signs
from fourtier.runtime.rpc.instrumentation import HandlingSpan
from fourtier.runtime.rpc.keyed_executor import Lanes
from fourtier.runtime.rpc.results import Results, ends_within
from fourtier.runtime.rpc.retry import Attempts
from fourtier.runtime.rpc.routes import Route
from fourtier.runtime.validation import in_words
from fourtier.schema.message import Message

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A delivery whose payload could be read."""

    delivery: Delivery
    envelope: Envelope
    message: Message


class Handling:
    """Handles the messages of one route.

    Args:
        lanes: keeps the order of each key.
        signs: tells callers that their questions are in hand.
        stopping: once it is set nothing is begun any more, and nothing tried again.
    """

    def __init__(
        self,
        bus: Bus,
        service: str,
        route: Route,
        *,
        lanes: Lanes,
        signs: Signs,
        stopping: asyncio.Event,
    ) -> None:
        self._service = service
        self._route = route
        self._lanes = lanes
        self._signs = signs
        self._stopping = stopping
        self._results = Results(bus, service, route.topic, stopping)
        self._admission = Admission(route.topic.name, route.most_in_hand, route.side_by_side)

    async def one(self, delivery: Delivery) -> None:
        """Hand a message to the handler, in its turn. Returns when there is room for the next."""
        self._count_taken([delivery])
        around = Envelope.of(delivery.properties, delivery.id)
        new = self._signs.begin(around)
        refusal = self._admission.refusal(delivery, around) if new else None
        if refusal is not None:
            self._signs.end(around)
            await self._results.refuse(delivery, refusal)
        elif new or self._route.topic.persistent:
            self._admission.take()
            await self._lanes.put(delivery.key, partial(self._handle_in_hand, delivery, around))

    async def together(self, deliveries: Sequence[Delivery]) -> None:
        """Hand a batch to the handler; if that fails, its messages one by one.

        What cannot be read, and what has to wait for an earlier message of its key that is being
        tried again, goes its own way and does not hold up the batch.
        """
        self._count_taken(deliveries)
        batch: list[_Incoming] = []
        for delivery in deliveries:
            around = Envelope.of(delivery.properties, delivery.id)
            if self._lanes.busy(delivery.key):
                await self._lanes.put(delivery.key, partial(self._handle, delivery, around))
                continue
            try:
                incoming = self._read(delivery, around)
            except MalformedError as error:
                await self._lanes.put(delivery.key, partial(self._refuse, delivery, error))
            else:
                if incoming is not None:
                    batch.append(incoming)
        failure = await self._handle_together(batch) if batch else None
        if failure is not None:
            # Of a larger batch nobody knows which message it was.
            known = failure if len(batch) == 1 else None
            for incoming in batch:
                await self._lanes.put(incoming.delivery.key, partial(self._try, incoming, known))

    def _count_taken(self, deliveries: Sequence[Delivery]) -> None:
        telemetry.count_taken(self._service, self._route.topic.name, deliveries)

    def _read(self, delivery: Delivery, around: Envelope) -> _Incoming | None:
        """Read a payload; None when nobody waits for an answer any more.

        Raises:
            MalformedError: it is not what the topic carries.
        """
        if around.expired and not self._route.topic.persistent:
            telemetry.count_expired(self._service, self._route.topic.name)
            return None
        try:
            message = self._route.topic.payload.model_validate_json(delivery.payload)
        except ValidationError as error:
            wrong = in_words(error, "payload")
            raise MalformedError(f"is no valid {error.title}: {wrong}") from error
        return _Incoming(delivery, around, message)

    async def _handle_together(self, batch: Sequence[_Incoming]) -> Exception | None:
        """Handle and acknowledge a batch; gives back why it failed."""
        topic = self._route.topic.name
        deliveries = [incoming.delivery for incoming in batch]
        try:
            with telemetry.handling(self._service, topic, deliveries) as span:
                async with self._lanes.slot:
                    await self._run_together(batch, span)
        except Exception as error:  # noqa: BLE001 - decided message by message
            if len(batch) > 1:
                log.warning(
                    "A batch of %d on %s failed and is handled one by one: %s",
                    len(batch),
                    topic,
                    error,
                )
            return error
        for delivery in deliveries:
            await self._results.acknowledge(delivery)
        return None

    async def _handle_in_hand(self, delivery: Delivery, around: Envelope) -> None:
        try:
            await self._handle(delivery, around)
        finally:
            self._signs.end(around)
            self._admission.let_go()

    async def _handle(self, delivery: Delivery, around: Envelope) -> None:
        if self._is_left():
            return
        try:
            incoming = self._read(delivery, around)
        except MalformedError as error:
            await self._refuse(delivery, error)
        else:
            if incoming is not None:
                await self._try(incoming)

    async def _refuse(self, delivery: Delivery, error: MalformedError) -> None:
        """Give up what cannot be read."""
        with telemetry.handling(self._service, self._route.topic.name, [delivery]) as span:
            span.fail(error)
            await self._results.give_up(delivery, error, attempts=1)

    def _is_left(self) -> bool:
        """Whether a message that was not begun is left for the next start."""
        return self._stopping.is_set() and self._route.topic.persistent

    async def _try(self, incoming: _Incoming, failure: Exception | None = None) -> None:
        """Try until it is done or given up; messages with the same key wait meanwhile.

        Args:
            incoming: the message.
            failure: of the first attempt, if there was one already.
        """
        if self._is_left():
            return
        delivery, attempts = incoming.delivery, Attempts(self._route.retry)
        with telemetry.handling(self._service, self._route.topic.name, [delivery]) as span:
            while True:
                failure = failure or await self._attempt(incoming, span)
                if failure is None:
                    await self._results.acknowledge(delivery)
                    return
                pause = self._decide(incoming.envelope, attempts, failure)
                if pause is None:
                    span.fail(failure)
                    await self._results.give_up(delivery, failure, attempts.made)
                    return
                span.retry(failure)
                if await ends_within(self._stopping, pause):
                    span.leave()
                    return
                failure = None

    async def _attempt(self, incoming: _Incoming, span: HandlingSpan) -> Exception | None:
        """Run the handler once; gives back why it failed."""
        try:
            async with self._lanes.slot:
                with self._admission.timed():
                    await self._run(incoming, span)
        except Exception as error:  # noqa: BLE001 - what it means is decided by the caller
            return error
        return None

    async def _run(self, incoming: _Incoming, span: HandlingSpan) -> None:
        if self._route.single is None:
            await self._run_together([incoming], span)
            return
        envelope.set_handling(incoming.envelope)
        last, piece = False, 0
        results = self._route.single(incoming.message)
        try:
            async for result in results:
                last = self._route.last is None or self._route.last(result)
                await self._results.reply(incoming.envelope, result, last=last, piece=piece)
                piece += 1
                if last:
                    self._signs.end(incoming.envelope)
        finally:
            if isinstance(results, AsyncGenerator):
                await results.aclose()
        if self._route.last is not None and not last:
            raise RefusedError(f"{self._route.topic.name}: the answer ended before its last piece")

    async def _run_together(self, batch: Sequence[_Incoming], span: HandlingSpan) -> None:
        if self._route.together is None:
            raise TypeError(f"the route of {self._route.topic.name} has no handler")
        results = await self._route.together([incoming.message for incoming in batch])
        for place, (incoming, result) in enumerate(zip(batch, results, strict=True)):
            if result is not None:
                with span.answering(place):
                    await self._results.reply(incoming.envelope, result, last=True)

    def _decide(self, around: Envelope, attempts: Attempts, error: Exception) -> float | None:
        """Seconds until the next attempt, None to give up. A read is retried by its caller."""
        topic = self._route.topic
        pause = attempts.pause(error)
        if not topic.persistent:
            return None
        if pause is not None:
            log.warning(
                "Handling %s on %s failed (attempt %d), again in %.1f s: %s",
                around.id,
                topic.name,
                attempts.made,
                pause,
                error,
                extra={"service": self._service, "topic": topic.name, "attempt": attempts.made},
            )
        return pause
