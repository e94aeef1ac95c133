"""A flow with two processes of each service, to which others join and which they leave."""

import asyncio
import itertools
import signal
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc.envelope import new_id
from tests.chaos.flow import SERVICES
from tests.chaos.script import Script
from tests.chaos.tools import LEDGER, offer_tools
from tests.cluster.flows import TENANT, flow_target
from tests.cluster.servers import SERVERS
from tests.support.flow import PATIENT
from tests.support.model import scripted_model
from tests.support.qdrant import shared_qdrant
from tests.support.services import (
    ServiceProcess,
    ServiceProcesses,
    model_environment,
    python_path,
    write_flow,
)
from tests.support.waiting import wait_until

REPLICAS = 2
_SERVICES = {**SERVICES, "agent": PATIENT}
#: The services that hold state which must not be lost with one process.
STATEFUL = ("agent", "working-memory", "facts", "episodes", "conversations", "extraction")


@dataclass
class ReplicatedFlow:
    """Its processes, and what they work with.

    Attributes:
        replicas: those of each service that run, the one that has run for longest first.
        numbers: of runs, each another throughout the flow's life.
    """

    bus_url: str
    namespace: str
    script: Script
    ledger: Path
    processes: ServiceProcesses
    replicas: dict[str, list[ServiceProcess]] = field(
        default_factory=lambda: {name: [] for name in SERVICES}
    )
    numbers: Iterator[int] = field(default_factory=itertools.count)
    _names: Iterator[int] = field(default_factory=itertools.count)

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Bus]:
        """A connection of its own, as each client has it."""
        async with connect_pulsar(
            self.bus_url,
            TENANT,
            self.namespace,
            security=PulsarSecurity(),
            log_file=str(self.ledger.with_name("client.log")),
        ) as bus:
            yield bus

    async def fill_up(self) -> None:
        """Start what is missing of the two of each service."""
        for number in range(1, REPLICAS + 1):  # all at once would be slow to answer
            await self._start(name for name in SERVICES if len(self.replicas[name]) < number)

    async def shares(self, service: str, topic: str) -> list[int]:
        """How many messages of a topic each process of a service has handled."""
        return [await process.handled(topic) for process in self.replicas[service]]

    async def join(self) -> None:
        """Start one more of each service."""
        await self._start(SERVICES)

    async def _start(self, services: Iterable[str]) -> None:
        new = {name: self._new(name) for name in services}
        await asyncio.gather(*(process.start() for process in new.values()))
        for name, process in new.items():
            self.replicas[name].append(process)

    def _new(self, service: str) -> ServiceProcess:
        return self.processes.make(service, name=f"{service}-{next(self._names)}")

    async def begin_to_leave(self) -> list[ServiceProcess]:
        """Tell the oldest of each service to end; returns when none of them takes messages."""
        leaving = [running.pop(0) for running in self.replicas.values()]
        for process in leaving:
            process.signal(signal.SIGTERM)
        for process in leaving:
            await wait_until(partial(_takes_nothing, process))
        return leaving

    async def kill(self, services: Iterable[str]) -> None:
        """End the oldest of these services with -9."""
        await asyncio.gather(*(self.replicas[name].pop(0).kill() for name in services))

    async def stop(self) -> None:
        """End all in peace: first those that ask, then those that answer them."""
        for name in reversed(list(SERVICES)):
            await asyncio.gather(*(process.stop() for process in self.replicas[name]))


async def _takes_nothing(process: ServiceProcess) -> bool:
    return not await process.is_ready()


@asynccontextmanager
async def replicated_flow(directory: Path) -> AsyncGenerator[ReplicatedFlow]:
    """Two processes of each service on the Pulsar and the Neo4j that the environment names.

    They share a Qdrant server where the environment names one, and a stand-in for it elsewhere.
    """
    script = Script()
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(scripted_model(script=script))
        vectors_url = SERVERS.qdrant_url or await stack.enter_async_context(shared_qdrant())
        on = await flow_target(directory / new_id(), "", "replicas", {})
        ledger = directory / "ledger.txt"
        environment = model_environment(model.url) | {
            "FOURTIER_BUS_URL": on.bus,
            "FOURTIER_GRAPH_URL": on.settings["graph_url"],
            "FOURTIER_VECTORS_URL": vectors_url,
            "PYTHONPATH": python_path(offer_tools(directory)),
            LEDGER: str(ledger),
        }
        if SERVERS.qdrant_key is not None:
            environment["FOURTIER_VECTORS_KEY"] = SERVERS.qdrant_key
        file = write_flow(directory / "flow.yaml", _SERVICES, tenant=TENANT, namespace=on.namespace)
        processes = ServiceProcesses(file, directory, environment)
        flow = ReplicatedFlow(on.bus, on.namespace, script, ledger, processes)
        stack.push_async_callback(flow.stop)
        await flow.fill_up()
        yield flow
