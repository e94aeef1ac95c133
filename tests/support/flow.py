"""A flow that runs inside a test, on the real embedded engines."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourtier.flows.model import Flow
from fourtier.flows.plan import bus_config, host_plan
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.opening import open_bus
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.process.host import Host, run_services
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.settings import Settings
from tests.cluster.flows import flow_target

#: Whoever runs the tests may have a real model in their environment.
_NO_MODEL: Mapping[str, Any] = {"model_url": None, "model_key": None, "model_name": None}
#: A busy machine is not a reason to go on without a tier; a test that is about one says when it is.
PATIENT: Mapping[str, Any] = {"tier-seconds": 30}
#: Nobody waits for a tier that the flow of a test does not have.
_NO_ARCHIVE: Mapping[str, Any] = {"archive-retrieval-top-k": 0}


@dataclass(frozen=True)
class RunningFlow:
    """A flow's parts as a test needs them."""

    bus: Bus
    url: str
    caller: Caller
    host: Host


@asynccontextmanager
async def running_flow(
    data: Path,
    services: Mapping[str, Mapping[str, Any]],
    *,
    bus: str = "memory://",
    namespace: str = "test",
    settings: Mapping[str, Any] | None = None,
    privacy: PrivacyPolicy = PrivacyPolicy(),
) -> AsyncGenerator[RunningFlow]:
    """Run services until the context ends; `bus="embedded"` starts a real broker.

    `make test-cluster` runs them on Pulsar and Neo4j instead, whatever the test says.
    """
    target = await flow_target(data, bus, namespace, settings or {})
    patient = _patient(services) if "agent" in services else {}
    flow = Flow(
        name="test", namespace=target.namespace, services={**services, **patient}, privacy=privacy
    )
    environment = Settings(
        **dict(_NO_MODEL)
        | {"data": data, "bus_url": target.bus, "bus_port": 0}
        | dict(target.settings)
    )
    async with (
        open_bus(bus_config(flow, environment)) as (connected, url),
        run_services(connected, host_plan(flow, environment)) as host,
        open_caller(connected) as caller,
    ):
        yield RunningFlow(connected, url, caller, host)


def _patient(services: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    absent = {} if "archive" in services else _NO_ARCHIVE
    return {"agent": {**PATIENT, **absent, **services["agent"]}}
