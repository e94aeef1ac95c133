"""A flow of which every service is a process of its own, on engines that can be killed too."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pulsar_lite.binary_finder import find_pulsar_lite_binary

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.pulsar.handshake import handshake
from tests.chaos.relay import relay
from tests.chaos.script import Script
from tests.chaos.tools import LEDGER, offer_tools
from tests.cluster.engines import running_engines
from tests.cluster.pulsar_admin import create_namespace
from tests.cluster.server import Server
from tests.road.services import ROAD
from tests.support.model import ScriptedModel, scripted_model
from tests.support.ports import free_port
from tests.support.services import (
    ServiceProcesses,
    limited_to,
    model_environment,
    python_path,
    write_flow,
)

TENANT, NAMESPACE = "fourtier", "chaos"
#: In the order in which they are started. Conversations end whenever nobody goes on with them for a
#: short time, so that promotion has something to do under every fault. A busy machine is not a
#: reason to go on without working memory: an agent that does, and is killed, makes its run anew.
SERVICES: Mapping[str, Mapping[str, object]] = {
    **ROAD,
    "agent": {"tier_seconds": 30},
    "completion": {},
    "conversations": {"idle_seconds": 2, "sweep_seconds": 0.5},
}


@dataclass(frozen=True)
class ChaosFlow:
    """The running processes.

    Attributes:
        servers: services and engines by their names.
        ledger: what the tools have noted.
        script: the model's.
        service: makes the process of a service anew, with a bound on the size of its files or none.
    """

    bus_url: str
    servers: dict[str, Server]
    service: Callable[[str, int | None], Server]
    ledger: Path
    script: Script
    model: ScriptedModel


@asynccontextmanager
async def chaos_flow(directory: Path, *, cluster: bool = False) -> AsyncGenerator[ChaosFlow]:
    """Start everything below `directory`; it all ends with this context, or with this process.

    With `cluster` it runs on Pulsar and Neo4j instead of the embedded engines.
    """
    script = Script()
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(scripted_model(script=script))
        engines = _cluster(directory) if cluster else embedded_bus(directory)
        bus_url, environment, servers = await stack.enter_async_context(engines)
        ledger = directory / "ledger.txt"
        environment |= model_environment(model.url) | {
            "FOURTIER_BUS_URL": bus_url,
            "PYTHONPATH": python_path(offer_tools(directory)),
            LEDGER: str(ledger),
        }
        file = write_flow(directory / "flow.yaml", SERVICES, tenant=TENANT, namespace=NAMESPACE)
        service = partial(_service, ServiceProcesses(file, directory, environment))
        servers |= {name: service(name, None) for name in SERVICES}
        stack.push_async_callback(_stop, servers)
        await asyncio.gather(*(servers[name].start() for name in SERVICES))
        yield ChaosFlow(bus_url, servers, service, ledger, script, model)


def _service(processes: ServiceProcesses, name: str, limit: int | None) -> Server:
    return processes.make(name, within=limited_to(limit) if limit is not None else ())


async def _stop(servers: Mapping[str, Server]) -> None:
    await asyncio.gather(*(servers[name].stop() for name in SERVICES))


@asynccontextmanager
async def embedded_bus(
    directory: Path,
) -> AsyncGenerator[tuple[str, dict[str, str], dict[str, Server]]]:
    """A `pulsar-lite` that outlives the services; their stores are in the services' processes."""
    bus = directory / "bus"
    bus.mkdir(parents=True)
    configuration = bus / "broker.toml"
    configuration.write_text("default_partitions = 0\n\n[metrics]\nenabled = false\n")
    port, relayed = free_port(), free_port()
    url = f"pulsar://127.0.0.1:{port}"
    command = [
        str(find_pulsar_lite_binary()),
        *("--config", str(configuration)),
        *("--addr", f"127.0.0.1:{port}"),
        *("--db-path", str(bus / "messages")),
        *("--log-level", "error"),
    ]
    broker = Server("pulsar-lite", command, directory / "broker.log", lambda: _answers(url))
    await broker.start()
    try:
        async with relay(relayed, to=port):
            yield f"pulsar://127.0.0.1:{relayed}", {}, {"pulsar-lite": broker}
    finally:
        await broker.stop()


async def _answers(url: str) -> bool:
    try:
        await handshake(url)
    except BusError:
        return False
    return True


@asynccontextmanager
async def _cluster(
    directory: Path,
) -> AsyncGenerator[tuple[str, dict[str, str], dict[str, Server]]]:
    async with running_engines(directory / "engines") as running:
        await create_namespace(running.pulsar_admin_url, TENANT, NAMESPACE)
        environment = {"FOURTIER_GRAPH_URL": running.neo4j_url}
        servers = {"pulsar": running.pulsar, "neo4j": running.neo4j}
        yield running.pulsar_url, environment, servers
