"""How an interface finds the running flow that it talks to."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fourtier.client import Client, client_on
from fourtier.flows.model import Flow, read_flow
from fourtier.flows.plan import bus_config
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.opening import BusConfig, embedded_security, open_bus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.running import read_running
from fourtier.runtime.settings import Settings, read_settings


@asynccontextmanager
async def open_flow_bus(flow: str) -> AsyncGenerator[Bus]:
    """Connect to the bus of a running flow.

    A flow on a server is found by its URL, one with the embedded bus by the file that it writes
    into its data directory.

    Raises:
        StartupError: no flow is running there.
        FlowError: there is no such flow.
    """
    async with open_bus(reachable_bus(read_flow(flow), read_settings())) as (bus, _):
        yield bus


def reachable_bus(flow: Flow, settings: Settings) -> BusConfig:
    """Where the bus of a running flow is.

    Raises:
        StartupError: no flow is running with the data directory, or its bus is inside its process.
    """
    config = bus_config(flow, settings)
    if config.url == "memory://":
        raise StartupError("a flow on memory:// can be reached only from its own process")
    if config.url != "embedded":
        return config
    running = read_running(config.data)
    return BusConfig(
        url=running.bus_url,
        tenant=running.tenant,
        namespace=running.namespace,
        data=config.data,
        security=config.security if config.security.token else embedded_security(config.data),
    )


@asynccontextmanager
async def open_client(flow: str) -> AsyncGenerator[Client]:
    """Make a client of a running flow.

    Raises: as `open_flow_bus`.
    """
    async with open_flow_bus(flow) as bus, client_on(bus) as client:
        yield client
