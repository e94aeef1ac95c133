"""A process of a flow: everything around its services, from the data lock to the signals."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.data_lock import PRIVATE_MASK, locked_data
from fourtier.runtime.process.disk import DiskReserve, watched_disk
from fourtier.runtime.process.health import health_server
from fourtier.runtime.process.host import Host, HostPlan, run_services
from fourtier.runtime.process.running import Running, announced
from fourtier.runtime.process.telemetry_setup import telemetry_to

log = logging.getLogger(__name__)

EMBEDDED = "embedded"
#: What a shell says of a program that was ended by Ctrl-C.
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """What a process runs and where it can be seen."""

    flow: str
    bus: BusConfig
    host: HostPlan
    health_host: str = "127.0.0.1"
    health_port: int = 6680

    @property
    def embedded(self) -> bool:
        """Whether an engine has its files in the data directory."""
        engines = self.host.stores.engines
        return EMBEDDED in {self.bus.url, engines.graph, engines.vectors}


@dataclass
class FlowProcess:
    """A flow that is up in this process."""

    bus: Bus
    bus_url: str
    health_port: int
    host: Host
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ready(self) -> bool:
        """Whether it takes messages."""
        return self.host.ready.is_set() and not self.stopping.is_set()

    def stop(self) -> None:
        """Ask for a graceful stop; asked once more, messages in flight are cut off."""
        if self.stopping.is_set():
            self.host.stop_at_once()
        self.stopping.set()

    async def wait(self) -> None:
        """Wait until a stop is asked for; raises the error of a service that failed."""
        stop = asyncio.create_task(self.stopping.wait())
        failed = asyncio.create_task(self.host.wait_failed())
        try:
            await asyncio.wait([stop, failed], return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                failed.result()
        finally:
            stop.cancel()
            failed.cancel()
            await asyncio.gather(stop, failed, return_exceptions=True)


@asynccontextmanager
async def flow_process(plan: ProcessPlan) -> AsyncGenerator[FlowProcess]:
    """Start what the plan says; the end of the context stops it in order.

    Raises:
        StartupError: something is missing, busy or wrong; one line says what to do.
    """
    services = tuple(plan.host.services)
    state: list[FlowProcess] = []
    disk: DiskReserve | None = None
    async with AsyncExitStack() as stack:
        stack.enter_context(_private_files())
        if plan.embedded:
            stack.enter_context(locked_data(plan.host.data))
            disk = DiskReserve(plan.host.data, plan.host.stores.engines.disk_reserve_mb)
            disk.check_start()
            await stack.enter_async_context(watched_disk(disk))
        registry = await stack.enter_async_context(
            telemetry_to(plan.host.settings.otlp_endpoint, plan.flow, services)
        )
        health_port = await stack.enter_async_context(
            health_server(plan.health_host, plan.health_port, _Health(state, disk), registry)
        )
        process = await _start(stack, plan, health_port)
        state.append(process)
        if plan.embedded:
            stack.enter_context(announced(plan.host.data, _running(plan, process)))
        _say_that_it_is_up(plan, process)
        try:
            yield process
        finally:
            process.stopping.set()
            log.info("Stopping: messages in flight are finished first.")


@contextlib.contextmanager
def _private_files() -> Generator[None]:
    """Let nobody else read the files that are made here, by the engines and the broker too."""
    before = os.umask(PRIVATE_MASK)
    try:
        yield
    finally:
        os.umask(before)


async def _start(stack: AsyncExitStack, plan: ProcessPlan, health_port: int) -> FlowProcess:
    bus, bus_url = await stack.enter_async_context(open_bus(plan.bus))
    log.info("Connected to the bus at %s (%s/%s).", bus_url, plan.bus.tenant, plan.bus.namespace)
    try:
        host = await stack.enter_async_context(run_services(bus, plan.host))
    except BusError as error:
        raise StartupError(f"the bus at {bus_url} cannot be used: {error}") from error
    return FlowProcess(bus, bus_url, health_port, host)


def _running(plan: ProcessPlan, process: FlowProcess) -> Running:
    return Running(
        flow=plan.flow,
        bus_url=process.bus_url,
        tenant=plan.bus.tenant,
        namespace=plan.bus.namespace,
        pid=os.getpid(),
        health_port=process.health_port,
        services=tuple(plan.host.services),
    )


def _say_that_it_is_up(plan: ProcessPlan, process: FlowProcess) -> None:
    log.info(
        "The flow %s is up: %s. Graph: %s, vectors: %s. Data: %s. Health: port %d.",
        plan.flow,
        ", ".join(plan.host.services),
        plan.host.stores.engines.graph,
        plan.host.stores.engines.vectors,
        plan.host.data.absolute(),
        process.health_port,
    )


@dataclass(frozen=True, slots=True)
class _Health:
    """What the health endpoint reports of a process that may not have started yet."""

    state: list[FlowProcess]
    disk: DiskReserve | None = None

    def why_not_live(self) -> str:
        hanging = self.state[0].host.hanging() if self.state else ()
        return f"a handler hangs beyond its time limit: {', '.join(hanging)}" if hanging else ""

    def why_not_ready(self) -> str:
        if not self.state:
            return "starting"
        if not self.state[0].ready:
            return "stopping"
        return self.disk.problem() if self.disk else ""


@contextlib.contextmanager
def stop_on_signals(process: FlowProcess) -> Generator[None]:
    """SIGTERM and SIGINT ask for a graceful stop.

    A second one cuts off the messages in flight, and a third one ends the process wherever it is.
    """
    loop = asyncio.get_running_loop()
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked > 2:  # noqa: PLR2004 - said above
            os._exit(_INTERRUPTED)
        process.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        if not process.stopping.is_set():  # else they are needed until the stop is over
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
