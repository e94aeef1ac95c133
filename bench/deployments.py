"""What a benchmark measures: one process, or one for each service on Pulsar and Neo4j."""

import asyncio
import os
import secrets
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.engines import running_engines
from tests.cluster.pulsar_admin import create_namespace
from tests.road.services import ROAD
from tests.support.ports import free_port
from tests.support.services import ServiceProcess, ServiceProcesses, model_environment, write_flow
from tests.support.usage import descendants_of

#: They have an embedded index, which one process alone can hold.
ALONE = frozenset({"facts", "episodes", "archive"})
#: The parameters of services, by their names.
Services = Mapping[str, Mapping[str, Any]]
_TENANT, _NAMESPACE = "fourtier", "bench"
_MYSELF = "clients and model"


@dataclass(frozen=True)
class Deployment:
    """A flow that runs.

    Attributes:
        scale: runs the services that are to be scaled so many times.
        processes: their ids by what they are.
        token: what clients show to the bus; None where it asks for none.
    """

    bus_url: str
    scale: Callable[[int], Awaitable[None]]
    processes: Callable[[], Mapping[str, Sequence[int]]]
    tenant: str = _TENANT
    namespace: str = _NAMESPACE
    token: str | None = None


@asynccontextmanager
async def cluster(
    directory: Path, model_url: str, scaled: Sequence[str], services: Services = ROAD
) -> AsyncGenerator[Deployment]:
    """A process for each service, on Pulsar and Neo4j."""
    async with running_engines(directory / "engines") as engines:
        await create_namespace(engines.pulsar_admin_url, _TENANT, _NAMESPACE)
        environment = model_environment(model_url) | {
            "FOURTIER_BUS_URL": engines.pulsar_url,
            "FOURTIER_GRAPH_URL": engines.neo4j_url,
        }
        made = ServiceProcesses(_flow_file(directory, services), directory, environment)
        running: dict[str, list[ServiceProcess]] = {name: [] for name in services}

        async def scale(replicas: int) -> None:
            new: list[ServiceProcess] = []
            for name, processes in running.items():
                wanted = replicas if name in scaled else 1
                numbers = range(len(processes) + 1, wanted + 1)
                more = [made.make(name, name=f"{name}-{number}") for number in numbers]
                processes.extend(more)
                new += more
            await asyncio.gather(*(process.start() for process in new))

        def processes() -> dict[str, list[int]]:
            pids = {name: [one.pid for one in of_it] for name, of_it in running.items()}
            return pids | {
                "Pulsar": [engines.pulsar.pid],
                "Neo4j": [engines.neo4j.pid],
                _MYSELF: [os.getpid()],
            }

        try:
            yield Deployment(engines.pulsar_url, scale, processes)
        finally:
            await asyncio.gather(*(one.stop() for of_it in running.values() for one in of_it))


@asynccontextmanager
async def embedded(
    directory: Path, model_url: str, services: Services = ROAD
) -> AsyncGenerator[Deployment]:
    """The whole flow in one process, as `fourtier up` runs it."""
    port, token = free_port(), secrets.token_urlsafe()
    environment = model_environment(model_url) | {
        "FOURTIER_BUS_PORT": str(port),
        "FOURTIER_BUS_TOKEN": token,
    }
    made = ServiceProcesses(_flow_file(directory, services), directory, environment)
    flow = made.make_all("up")

    async def scale(_replicas: int) -> None:
        """Nothing to do: there is one."""

    def processes() -> dict[str, list[int]]:
        found: defaultdict[str, list[int]] = defaultdict(list, {"fourtier up": [flow.pid]})
        for pid, name in descendants_of(flow.pid).items():
            found[name].append(pid)
        return {**found, _MYSELF: [os.getpid()]}

    try:
        await flow.start()
        yield Deployment(f"pulsar://127.0.0.1:{port}", scale, processes, token=token)
    finally:
        await flow.stop()


def road_without(left_out: Collection[str]) -> Services:
    """The services of the main road but some, and an agent that does not ask them."""
    services = {name: dict(parameters) for name, parameters in ROAD.items() if name not in left_out}
    if "archive" in left_out:
        services["agent"]["archive-retrieval-top-k"] = 0
    return services


def _flow_file(directory: Path, services: Services) -> Path:
    return write_flow(directory / "flow.yaml", services, tenant=_TENANT, namespace=_NAMESPACE)
