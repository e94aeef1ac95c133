"""The serving loop: take the messages of a route and hand them on, until told to stop."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.admission import HEADROOM
from fourtier.runtime.rpc.attempts import RunningAttempts
from fourtier.runtime.rpc.fair_batches import FairBatches
from fourtier.runtime.rpc.handler_loop import HandlerLoop
from fourtier.runtime.rpc.heartbeat import Heartbeats, heartbeats_on
from fourtier.runtime.rpc.keyed_executor import KeyedExecutor
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.rpc.routes import Route, cancel_address


class Server:
    """Serves the routes of one service until it is told to stop.

    Args:
        service: the service's name: its subscription on every topic.
        limits: how long its handlers may take.
        privacy: what happens to the personal data of dead letters.
    """

    def __init__(
        self,
        bus: Bus,
        service: str,
        limits: Limits = Limits(),
        privacy: PrivacyPolicy = PrivacyPolicy(),
    ) -> None:
        self._privacy = privacy
        self._bus = bus
        self._service = service
        self._limits = limits
        self._stopping = asyncio.Event()
        self._attempts: list[RunningAttempts] = []

    def stop(self) -> None:
        """Take no more messages: those in flight are finished, the others are redelivered."""
        self._stopping.set()

    def hanging(self) -> Sequence[str]:
        """Topics whose handlers did not end when their time limit was over."""
        return [topic for attempts in self._attempts for topic in attempts.hanging()]

    async def serve(self, route: Route, subscribed: asyncio.Event) -> None:
        """Handle a route's messages; sets `subscribed` once the broker stores messages for it.

        Raises:
            BusError: the topic cannot be subscribed to, or the subscription is gone.
        """
        topic = route.topic
        address = Address(topic.name, persistent=topic.persistent)
        mode = Mode.KEY_SHARED if topic.key and topic.persistent else Mode.SHARED
        async with AsyncExitStack() as stack:
            cancellations = None
            if route.last is not None:  # before its questions, so that no cancellation is missed
                cancellations = await stack.enter_async_context(self._cancellations(route))
            subscription = await stack.enter_async_context(
                self._bus.subscribe(address, self._service, mode)
            )
            if self._bus.local is not None:
                stack.enter_context(self._bus.local.serving(address, subscription))
            subscribed.set()
            stopping = asyncio.create_task(self._stopping.wait(), name=f"stop {topic.name}")
            try:
                await self._hand_on(route, subscription, cancellations, stopping)
            except ExceptionGroup as errors:
                raise _first(errors) from errors
            finally:
                stopping.cancel()
                await asyncio.gather(stopping, return_exceptions=True)

    def _cancellations(self, route: Route) -> AbstractAsyncContextManager[Subscription]:
        """Where callers say that they do not wait for their answers any more.

        Every replica gets each of them: a caller does not know which one has its question.
        """
        group = f"{self._service}-{envelope.new_id()}"
        return self._bus.subscribe(cancel_address(route.topic), group, Mode.EXCLUSIVE)

    async def _hand_on(
        self,
        route: Route,
        subscription: Subscription,
        cancellations: Subscription | None,
        stopping: "asyncio.Task[bool]",
    ) -> None:
        async with heartbeats_on(self._bus) as heartbeats, asyncio.TaskGroup() as listeners:
            async with asyncio.TaskGroup() as group:
                loop = self._loop(route, group, heartbeats)
                listening = listeners.create_task(_listen(cancellations, loop))
                if route.batch is None:
                    while (delivery := await _next(subscription, stopping)) is not None:
                        await loop.one(delivery)
                else:
                    batches = FairBatches(subscription, route.max_batch_size)
                    while await _has_next(batches, subscription, stopping):
                        await loop.batch(batches.next())
            listening.cancel()

    def _loop(self, route: Route, group: asyncio.TaskGroup, heartbeats: Heartbeats) -> HandlerLoop:
        attempts = RunningAttempts(self._limits.of(route))
        self._attempts.append(attempts)
        # A handler of batches never runs twice at once.
        max_concurrency = route.max_concurrency if route.batch is None else 1
        return HandlerLoop(
            self._bus,
            self._service,
            route,
            executor=KeyedExecutor(group, max_concurrency, HEADROOM * (route.max_in_flight or 0)),
            heartbeats=heartbeats,
            attempts=attempts,
            stopping=self._stopping,
            privacy=self._privacy,
        )


async def _listen(cancellations: Subscription | None, loop: HandlerLoop) -> None:
    """Cancel what callers do not wait for any more, of a route that streams.

    Raises:
        BusError: the subscription is gone.
    """
    while cancellations is not None:
        delivery = await cancellations.receive()
        if call := envelope.call_of(delivery.properties):
            loop.cancel(call)


async def _has_next(
    batches: FairBatches, subscription: Subscription, stopping: "asyncio.Task[bool]"
) -> bool:
    """Wait for a message; False when stopping. What waits then is redelivered."""
    if not batches and (delivery := await _next(subscription, stopping)) is not None:
        batches.add(delivery)
    return bool(batches) and not stopping.done()


async def _next(subscription: Subscription, stopping: "asyncio.Task[bool]") -> Delivery | None:
    """The next message, or None when stopping."""
    if stopping.done():
        return None
    if here := subscription.arrived(1):
        return here[0]
    receiving = asyncio.ensure_future(subscription.receive())
    try:
        await asyncio.wait([receiving, stopping], return_when=asyncio.FIRST_COMPLETED)
        return receiving.result() if receiving.done() else None
    finally:
        if not receiving.done():
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """The error itself, out of the groups around it."""
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
