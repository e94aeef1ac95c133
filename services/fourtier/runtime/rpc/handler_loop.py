"""What happens to a message that was taken: read, handled, retried, cancelled or failed.

The one place that catches what handlers raise.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from functools import partial

from fourtier.runtime.bus.contract import Bus, Delivery
from fourtier.runtime.errors import (
    CancelledByCallerError,
    MalformedError,
    PermanentError,
)
from fourtier.runtime.privacy.names import with_clean_names
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.rpc import instrumentation
from fourtier.runtime.rpc.admission import Admission
from fourtier.runtime.rpc.attempts import AttemptScope, RunningAttempts
from fourtier.runtime.rpc.envelope import Envelope, set_current_envelopes
from fourtier.runtime.rpc.heartbeat import Heartbeats
from fourtier.runtime.rpc.incoming import Incoming, read
from fourtier.runtime.rpc.instrumentation import ProcessSpan
from fourtier.runtime.rpc.keyed_executor import KeyedExecutor
from fourtier.runtime.rpc.results import Results, ends_within
from fourtier.runtime.rpc.retry import Attempts, wants_traceback
from fourtier.runtime.rpc.routes import Route
from fourtier.schema.message import Message

log = logging.getLogger(__name__)


class HandlerLoop:
    """Handles the messages of one route.

    Args:
        executor: keeps the order of each key.
        heartbeats: sent to callers whose questions are in flight.
        attempts: those that run, each with its time limit.
        stopping: once it is set nothing is begun any more, and nothing tried again.
        privacy: what happens to the personal data of dead letters, and to secrets in names.
    """

    def __init__(
        self,
        bus: Bus,
        service: str,
        route: Route,
        *,
        executor: KeyedExecutor,
        heartbeats: Heartbeats,
        attempts: RunningAttempts,
        stopping: asyncio.Event,
        privacy: PrivacyPolicy = PrivacyPolicy(),
    ) -> None:
        self._service = service
        self._route = route
        self._topic = route.topic.name
        self._executor = executor
        self._heartbeats = heartbeats
        self._attempts = attempts
        self._stopping = stopping
        self._privacy = privacy
        self._results = Results(bus, service, route.topic, stopping, privacy)
        self._admission = Admission(self._topic, route.max_in_flight, route.max_concurrency)

    async def one(self, delivery: Delivery) -> None:
        """Hand a message to the handler, in its turn. Returns when there is room for the next."""
        self._count_consumed([delivery])
        received = Envelope.of(delivery)
        new = self._heartbeats.begin(received)
        overload = self._admission.overload(delivery, received) if new else None
        if overload is not None:
            self._heartbeats.end(received)
            # Not here: answering thousands of callers one after another would hold up the topic.
            await self._executor.put_aside(partial(self._results.shed, delivery, overload))
        elif new or self._route.topic.persistent:
            self._admission.take()
            await self._executor.put(
                delivery.key, partial(self._handle_in_flight, delivery, received)
            )

    async def batch(self, deliveries: Sequence[Delivery]) -> None:
        """Hand a batch to the handler; if that fails, its messages one by one.

        What cannot be read, and what has to wait for an earlier message of its key that is being
        retried, goes its own way and does not hold up the batch.
        """
        self._count_consumed(deliveries)
        instrumentation.measure_batch(self._service, self._topic, len(deliveries))
        batch: list[Incoming] = []
        for delivery in deliveries:
            received = Envelope.of(delivery)
            if self._executor.busy(delivery.key):
                await self._executor.put(delivery.key, partial(self._handle, delivery, received))
                continue
            try:
                incoming = self._read(delivery, received)
            except MalformedError as error:
                await self._executor.put(delivery.key, partial(self._reject, delivery, error))
            else:
                if incoming is not None:
                    batch.append(incoming)
        failure = await self._handle_batch(batch) if batch else None
        if failure is not None:
            # Of a larger batch nobody knows which message it was.
            known = failure if len(batch) == 1 else None
            for incoming in batch:
                await self._executor.put(incoming.delivery.key, partial(self._try, incoming, known))

    def cancel(self, call: str) -> None:
        """End the work on a call whose caller does not wait any more."""
        self._heartbeats.cancel(call)
        self._attempts.cancel(call)

    def _count_consumed(self, deliveries: Sequence[Delivery]) -> None:
        instrumentation.count_consumed(self._service, self._topic, deliveries)

    def _read(self, delivery: Delivery, received: Envelope) -> Incoming | None:
        incoming = read(delivery, received, self._route.topic, self._service)
        if incoming is None:
            return None
        return replace(incoming, message=with_clean_names(incoming.message, self._privacy))

    async def _handle_batch(self, batch: Sequence[Incoming]) -> Exception | None:
        """Handle and acknowledge a batch; gives back why it failed."""
        deliveries = [incoming.delivery for incoming in batch]
        try:
            with instrumentation.process_span(self._service, self._topic, deliveries) as span:
                async with self._executor.slot, self._attempts.attempt(self._topic):
                    await self._run_batch(batch, span)
        except Exception as error:
            if len(batch) > 1:
                log.warning(
                    "A batch of %d on %s failed and is handled one by one: %s",
                    len(batch),
                    self._topic,
                    error,
                    exc_info=error if wants_traceback(error) else None,
                )
            return error
        for delivery in deliveries:
            await self._results.acknowledge(delivery)
        return None

    async def _handle_in_flight(self, delivery: Delivery, received: Envelope) -> None:
        try:
            await self._handle(delivery, received)
        finally:
            self._heartbeats.end(received)
            self._admission.release()

    async def _handle(self, delivery: Delivery, received: Envelope) -> None:
        if self._is_left():
            return
        try:
            incoming = self._read(delivery, received)
        except MalformedError as error:
            await self._reject(delivery, error)
        else:
            if incoming is not None:
                await self._try(incoming)

    async def _reject(self, delivery: Delivery, error: MalformedError) -> None:
        """Fail what cannot be read."""
        with instrumentation.process_span(self._service, self._topic, [delivery]) as span:
            span.fail(error, error.type)
            await self._results.fail(delivery, error, attempts=1)

    def _is_left(self) -> bool:
        """Whether a message that was not begun is left for the next start."""
        return self._stopping.is_set() and self._route.topic.persistent

    async def _try(self, incoming: Incoming, failure: Exception | None = None) -> None:
        """Try until it is done or has failed; messages with the same key wait meanwhile.

        Args:
            incoming: the message.
            failure: of the first attempt, if there was one already.
        """
        if self._is_left():
            return
        delivery, attempts = incoming.delivery, Attempts(self._route.retry)
        with instrumentation.process_span(self._service, self._topic, [delivery]) as span:
            while True:
                failure = failure or await self._attempt(incoming, span)
                if failure is None or isinstance(failure, CancelledByCallerError):
                    await self._results.acknowledge(delivery)
                    return
                pause = self._decide(incoming.envelope, attempts, failure)
                if pause is None:
                    span.fail(failure, getattr(failure, "type", type(failure).__name__))
                    await self._results.fail(delivery, failure, attempts.made)
                    return
                span.retry(failure)
                if await ends_within(self._stopping, pause):
                    span.leave()
                    return
                failure = None

    async def _attempt(self, incoming: Incoming, span: ProcessSpan) -> Exception | None:
        """Run the handler once, within its time limit; gives back why it failed."""
        try:
            async with (
                self._executor.slot,
                self._attempts.attempt(self._topic, incoming.envelope.call) as scope,
            ):
                with self._admission.timed():
                    await self._run(incoming, span, scope)
        except CancelledByCallerError as error:
            log.info("%s", error, extra={"service": self._service, "topic": self._topic})
            return error
        except Exception as error:  # noqa: BLE001 - what it means is decided by the caller
            return error
        return None

    async def _run(self, incoming: Incoming, span: ProcessSpan, scope: AttemptScope) -> None:
        """Call the handler, and answer what it gives back."""
        set_current_envelopes([incoming.envelope])
        if self._route.stream is not None:
            await self._run_stream(self._route.stream(incoming.message), incoming, scope)
        elif self._route.single is not None:
            result = await self._route.single(incoming.message)
            if result is not None:
                await self._results.reply(incoming.envelope, result, last=True)
        else:
            await self._run_batch([incoming], span)

    async def _run_stream(
        self, results: AsyncIterator[Message], incoming: Incoming, scope: AttemptScope
    ) -> None:
        last, sequence = False, 0
        try:
            async for result in results:
                scope.progress()
                last = self._route.last is not None and self._route.last(result)
                await self._results.reply(incoming.envelope, result, last=last, sequence=sequence)
                sequence += 1
                if last:
                    self._heartbeats.end(incoming.envelope)
        finally:
            if isinstance(results, AsyncGenerator):
                await results.aclose()
        if not last:
            raise PermanentError(f"{self._topic}: the answer ended before its last message")

    async def _run_batch(self, batch: Sequence[Incoming], span: ProcessSpan) -> None:
        if self._route.batch is None:
            raise TypeError(f"the route of {self._topic} has no handler")
        set_current_envelopes([incoming.envelope for incoming in batch])
        results = await self._route.batch([incoming.message for incoming in batch])
        if results is None:  # events, which nobody waits for
            return
        for index, (incoming, result) in enumerate(zip(batch, results, strict=True)):
            with span.answering(index):
                await self._results.reply(incoming.envelope, result, last=True)

    def _decide(self, received: Envelope, attempts: Attempts, error: Exception) -> float | None:
        """Seconds until the next attempt, None to fail. A query is retried by its caller."""
        pause = attempts.pause(error)
        topic = self._route.topic
        if topic.for_caller or not topic.persistent:
            return None
        if pause is not None:
            log.warning(
                "Handling %s on %s failed (attempt %d), again in %.1f s: %s",
                received.id,
                self._topic,
                attempts.made,
                pause,
                error,
                exc_info=error if wants_traceback(error) else None,
                extra={
                    "service": self._service,
                    "topic": self._topic,
                    "message_id": received.id,
                    "attempt": attempts.made,
                },
            )
        return pause
