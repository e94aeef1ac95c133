"""The serving loop: take the messages of a route and hand them on, until told to stop."""

import asyncio

from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.rpc.dead_letter_queue import DEAD_LETTERS, dead_letter_address
from fourtier.runtime.rpc.handler_loop import Handling
from fourtier.runtime.rpc.heartbeat import signs_on
from fourtier.runtime.rpc.keyed_executor import Lanes
from fourtier.runtime.rpc.routes import Route

__all__ = ["DEAD_LETTERS", "Server", "dead_letter_address"]


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
        """Take no more messages; what is in hand is finished, what was not begun comes again."""
        self._stopping.set()

    async def serve(self, route: Route, subscribed: asyncio.Event) -> None:
        """Handle a route's messages; sets `subscribed` once messages are kept for it.

        Raises:
            BusError: the topic cannot be subscribed to, or the subscription is gone.
        """
        topic = route.topic
        address = Address(topic.name, persistent=topic.persistent)
        mode = Mode.KEY_SHARED if topic.key and topic.persistent else Mode.SHARED
        async with self._bus.subscribe(address, self._service, mode) as subscription:
            subscribed.set()
            stopping = asyncio.create_task(self._stopping.wait(), name=f"stop {topic.name}")
            try:
                await self._hand_on(route, subscription, stopping)
            except ExceptionGroup as errors:
                raise _first(errors) from errors
            finally:
                stopping.cancel()
                await asyncio.gather(stopping, return_exceptions=True)

    async def _hand_on(
        self, route: Route, subscription: Subscription, stopping: "asyncio.Task[bool]"
    ) -> None:
        async with signs_on(self._bus) as signs, asyncio.TaskGroup() as group:
            # A handler of batches never runs twice at once.
            side_by_side = route.side_by_side if route.together is None else 1
            lanes = Lanes(group, side_by_side, route.most_in_hand or 0)
            handling = Handling(
                self._bus, self._service, route, lanes=lanes, signs=signs, stopping=self._stopping
            )
            while (first := await _next(subscription, stopping)) is not None:
                if route.together is None:
                    await handling.one(first)
                else:
                    await handling.together([first, *subscription.arrived(route.most - 1)])


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
