"""Runs services of a flow in this process: opens them, serves their routes, stops them in order."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.rpc.routes import Route
from fourtier.runtime.rpc.server import Server
from fourtier.runtime.service.context import Parameters, ServiceContext
from fourtier.runtime.service.declaration import Service
from fourtier.runtime.service.flow_services import GROUP, flow_services_route
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.service.status import status_route
from fourtier.runtime.service.stores.opening import StoreOpener
from fourtier.runtime.settings import Settings

log = logging.getLogger(__name__)

#: How long messages in flight may take to be finished after a stop was asked for, in seconds.
_GRACE = 25.0


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What to run.

    Attributes:
        services: those of this process, name to parameters.
        flow_services: all services of the flow, in whichever process they run.
        stores: opens what the services keep.
        data: the flow's data directory.
    """

    services: Mapping[str, Parameters]
    flow_services: Sequence[str]
    stores: StoreOpener
    data: Path
    settings: Settings
    limits: Limits = Limits()
    privacy: PrivacyPolicy = PrivacyPolicy()

    @property
    def answers_for_flow(self) -> bool:
        """Whether this process says which services the flow has: the one of the first service."""
        return any(name in self.services for name in self.flow_services[:1])


class Host:
    """The running services. `ready` is set once every route is subscribed."""

    def __init__(
        self,
        caller: Caller,
        limits: Limits = Limits(),
        privacy: PrivacyPolicy = PrivacyPolicy(),
    ) -> None:
        self.ready = asyncio.Event()
        self._caller = caller
        self._limits = limits
        self._privacy = privacy
        self._at_once = asyncio.Event()
        self._servers: list[tuple[Server, list[asyncio.Task[None]]]] = []

    def serve(self, bus: Bus, name: str, service: Service) -> Sequence[asyncio.Event]:
        """Begin to serve a service's routes, and the one that every service has.

        An event for each is set when it is subscribed.
        """
        return self._serve(bus, name, [*service.routes(), status_route(name, service)])

    def serve_flow(self, bus: Bus, services: Iterable[type[Service]]) -> Sequence[asyncio.Event]:
        """Begin to answer which services the flow has; as `serve`."""
        return self._serve(bus, GROUP, [flow_services_route(services)])

    def _serve(self, bus: Bus, name: str, routes: Iterable[Route]) -> Sequence[asyncio.Event]:
        server = Server(bus, name, self._limits, self._privacy)
        events: list[asyncio.Event] = []
        tasks: list[asyncio.Task[None]] = []
        for route in routes:
            subscribed = asyncio.Event()
            events.append(subscribed)
            serving = server.serve(route, subscribed)
            tasks.append(asyncio.create_task(serving, name=f"{name} {route.topic.name}"))
        self._servers.append((server, tasks))
        return events

    @property
    def _tasks(self) -> list[asyncio.Task[None]]:
        return [task for _, tasks in self._servers for task in tasks]

    async def wait_subscribed(self, events: Sequence[asyncio.Event]) -> None:
        """Wait until all are subscribed; raises what a route failed with instead."""
        await self._until_one_ends(_wait_for_all(events))

    async def wait_failed(self) -> None:
        """Wait for a route that ends by itself, which none should, and raise its error."""
        await self._until_one_ends(self._caller.wait_disconnected())

    async def _until_one_ends(self, other: Coroutine[Any, Any, None]) -> None:
        waiting = asyncio.create_task(other)
        try:
            await asyncio.wait([waiting, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
            self.raise_if_failed()
            if waiting.done():
                waiting.result()
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    def raise_if_failed(self) -> None:
        """Raise the error of a route that has ended."""
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error

    def hanging(self) -> Sequence[str]:
        """Topics whose handlers did not end when their time limit was over."""
        return [topic for server, _ in self._servers for topic in server.hanging()]

    def stop_at_once(self) -> None:
        """Let `stop` wait no longer for the messages in flight."""
        self._at_once.set()

    async def stop(self) -> None:
        """Stop one service after the other, the last one of the flow first.

        Each takes no more messages and finishes those in flight, while the services before it,
        which it may call, still answer. They share the grace period; what is not finished then is
        redelivered at the next start.
        """
        self.ready.clear()
        at_once = asyncio.create_task(self._at_once.wait())
        deadline = asyncio.get_running_loop().time() + _GRACE
        for server, tasks in reversed(self._servers):
            server.stop()
            running = set(tasks)
            while running and not at_once.done():
                left = max(0.0, deadline - asyncio.get_running_loop().time())
                ended, _ = await asyncio.wait(
                    {*running, at_once}, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
                running -= ended
                if not ended:
                    break
            for task in running:
                log.warning(
                    "%s did not finish in time; its messages are redelivered.", task.get_name()
                )
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        at_once.cancel()
        await asyncio.gather(at_once, return_exceptions=True)


async def _wait_for_all(events: Sequence[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


@asynccontextmanager
async def run_services(bus: Bus, plan: HostPlan) -> AsyncGenerator[Host]:
    """Open services in the flow's order and serve them until the context ends.

    Raises:
        StartupError: a service cannot be opened.
        BusError: a topic cannot be subscribed to.
    """
    async with AsyncExitStack() as stack:
        caller = await stack.enter_async_context(open_caller(bus))
        services: dict[str, Service] = {}
        for name, parameters in plan.services.items():
            context = ServiceContext(
                caller,
                plan.data / name,
                plan.stores,
                plan.settings,
                Privacy(plan.privacy, name),
            )
            opening = load_service(name).open(context, parameters)
            services[name] = await stack.enter_async_context(opening)
        host = Host(caller, plan.limits, plan.privacy)
        stack.push_async_callback(host.stop)  # before what the services have open is closed
        events: list[asyncio.Event] = []
        if plan.answers_for_flow:
            events += host.serve_flow(bus, map(load_service, plan.flow_services))
        for name, service in services.items():
            await bus.create_group(dead_letter_address(name), OPERATOR)
            events += host.serve(bus, name, service)
        await host.wait_subscribed(events)
        host.ready.set()
        yield host
