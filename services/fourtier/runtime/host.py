"""Runs services of a flow in this process: opens them, serves their routes, stops them in order."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.calls import open_caller
from fourtier.runtime.registry import load_service
from fourtier.runtime.service import Engines, Parameters, RunningService, Surroundings
from fourtier.runtime.serving import Server, dead_letter_address
from fourtier.runtime.settings import Settings

log = logging.getLogger(__name__)

#: How long messages in hand may take to be finished after a stop was asked for.
_GRACE = 25.0
#: The group by which people read the dead letters.
OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What to run.

    Attributes:
        services: name to parameters.
        data: the flow's data directory.
    """

    services: Mapping[str, Parameters]
    engines: Engines
    data: Path
    settings: Settings


class Host:
    """The running services. `ready` is set once every route is subscribed."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self._servers: list[Server] = []
        self._tasks: list[asyncio.Task[None]] = []

    def serve(self, bus: Bus, name: str, service: RunningService) -> Sequence[asyncio.Event]:
        """Begin to serve a service's routes; an event for each tells when it is subscribed."""
        server = Server(bus, name)
        self._servers.append(server)
        events = []
        for route in service.routes():
            subscribed = asyncio.Event()
            events.append(subscribed)
            self._tasks.append(
                asyncio.create_task(
                    server.serve(route, subscribed), name=f"{name} {route.topic.name}"
                )
            )
        return events

    async def wait_subscribed(self, events: Sequence[asyncio.Event]) -> None:
        """Wait until all are subscribed; raises what a route failed with instead."""
        waiting = asyncio.create_task(_wait_for_all(events))
        try:
            await asyncio.wait([waiting, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
            self.raise_if_failed()
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def wait_failed(self) -> None:
        """Wait for a route that ends by itself, which none should, and raise its error."""
        await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        self.raise_if_failed()

    def raise_if_failed(self) -> None:
        """Raise the error of a route that has ended."""
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error

    async def stop(self) -> None:
        """Take no more messages, finish what is in hand within the grace, leave the rest."""
        self.ready.clear()
        for server in self._servers:
            server.stop()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_GRACE)
        for task in late:
            log.warning("%s did not finish in time; its messages will come again.", task.get_name())
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _wait_for_all(events: Sequence[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


@asynccontextmanager
async def run_services(bus: Bus, plan: HostPlan) -> AsyncGenerator[Host]:
    """Open services side by side and serve them until the context ends.

    Raises:
        StartupError: a service cannot be opened.
    """
    async with AsyncExitStack() as stack:
        caller = await stack.enter_async_context(open_caller(bus))
        services: dict[str, RunningService] = {}
        for name, parameters in plan.services.items():
            surroundings = Surroundings(caller, plan.data / name, plan.engines, plan.settings)
            opening = load_service(name).open(surroundings, parameters)
            services[name] = await stack.enter_async_context(opening)
        host = Host()
        stack.push_async_callback(host.stop)  # before what the services have open is closed
        events: list[asyncio.Event] = []
        for name, service in services.items():
            await bus.create_group(dead_letter_address(name), OPERATOR)
            events += host.serve(bus, name, service)
        await host.wait_subscribed(events)
        host.ready.set()
        yield host
