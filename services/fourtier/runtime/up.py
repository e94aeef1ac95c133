"""A process of a flow: everything around its services, from the lock to the last goodbye."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.bus.opening import BusPlace, open_bus
from fourtier.runtime.data_lock import locked_data
from fourtier.runtime.errors import StartupError
from fourtier.runtime.health import health_server
from fourtier.runtime.host import Host, HostPlan, run_services
from fourtier.runtime.running import Running, announced
from fourtier.runtime.telemetry_setup import telemetry_to

log = logging.getLogger(__name__)

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """What a process runs and where it can be seen."""

    flow: str
    bus: BusPlace
    host: HostPlan
    health_host: str = "127.0.0.1"
    health_port: int = 6680


@dataclass
class FlowProcess:
    """A flow that is up in this process."""

    bus: Bus
    bus_url: str
    health_port: int
    host: Host
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> None:
        """Wait until a stop is asked for; raises the error of a service that failed."""
        stop = asyncio.create_task(self.stopping.wait())
        failed = asyncio.create_task(self.host.wait_failed())
        try:
            await asyncio.wait([stop, failed], return_when=asyncio.FIRST_COMPLETED)
            self.host.raise_if_failed()
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
    place, host_plan = plan.bus, plan.host
    embedded = EMBEDDED in {place.url, host_plan.engines.graph, host_plan.engines.vectors}
    async with AsyncExitStack() as stack:
        if embedded:
            stack.enter_context(locked_data(host_plan.data))
        registry = stack.enter_context(telemetry_to(host_plan.settings.otlp_endpoint, plan.flow))
        state: dict[str, FlowProcess] = {}
        health_port = await stack.enter_async_context(
            health_server(
                plan.health_host, plan.health_port, lambda: _why_not_ready(state), registry
            )
        )
        try:
            bus, bus_url = await stack.enter_async_context(open_bus(place))
            log.info("Connected to the bus at %s (%s/%s).", bus_url, place.tenant, place.namespace)
            host = await stack.enter_async_context(run_services(bus, host_plan))
        except BusError as error:
            raise StartupError(f"the bus at {place.url} cannot be used: {error}") from error
        process = FlowProcess(bus, bus_url, health_port, host)
        state["up"] = process
        if embedded:
            stack.enter_context(
                announced(
                    host_plan.data,
                    Running(
                        flow=plan.flow,
                        bus_url=bus_url,
                        tenant=place.tenant,
                        namespace=place.namespace,
                        pid=os.getpid(),
                        health_port=health_port,
                        services=tuple(host_plan.services),
                    ),
                )
            )
        log.info(
            "The flow %s is up: %s. Graph: %s, vectors: %s. Data: %s. Health: port %d.",
            plan.flow,
            ", ".join(host_plan.services),
            host_plan.engines.graph,
            host_plan.engines.vectors,
            host_plan.data.absolute(),
            health_port,
        )
        yield process
        process.stopping.set()
        log.info("Stopping: what is in hand is finished first.")


def _why_not_ready(state: dict[str, FlowProcess]) -> str:
    process = state.get("up")
    if process is None:
        return "starting"
    return "stopping" if process.stopping.is_set() else ""


@contextlib.contextmanager
def stop_on_signals(process: FlowProcess) -> Generator[None]:
    """SIGTERM and SIGINT ask for a graceful stop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if process.stopping.is_set():
            os._exit(130)
        process.stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
