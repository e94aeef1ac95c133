"""From a flow and the environment to what a host runs.

The environment's settings are put over the flow's here, name by name, and not by
`YamlConfigSettingsSource` of pydantic-settings. That makes one model of both, whose errors do not
say whether a value stood in the file or in a variable, and takes a file that is missing for an
empty one. `tests/flows/test_two_sources.py` shows both, and that ours names the source.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fourtier.engines.opening import FlowStores
from fourtier.flows.model import Flow
from fourtier.flows.parameters import parameters_of
from fourtier.runtime.bus.opening import BusConfig
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity
from fourtier.runtime.process.host import HostPlan
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_limits
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings, secret

if TYPE_CHECKING:
    from fourtier.runtime.process.flow_process import ProcessPlan

DEFAULT_DATA = Path(".fourtier")


def host_plan(flow: Flow, settings: Settings, services: Sequence[str] = ()) -> HostPlan:
    """What to run: the named services of a flow, or all of them.

    Raises:
        FlowError: as `parameters_of`.
    """
    return HostPlan(
        services={name: parameters_of(flow, name) for name in services or flow.services},
        flow_services=tuple(flow.services),
        stores=FlowStores(engines_of(flow, settings), settings),
        data=settings.data or DEFAULT_DATA,
        settings=settings,
        limits=flow.limits,
        privacy=flow.privacy,
    )


def engines_of(flow: Flow, settings: Settings) -> EnginesConfig:
    """Where the flow's stores are and how they are laid out."""
    named = {"graph": settings.graph_url, "vectors": settings.vectors_url}
    return flow.engines.model_copy(update={key: url for key, url in named.items() if url})


def process_plan(flow: Flow, settings: Settings, services: Sequence[str] = ()) -> "ProcessPlan":
    """What a process runs: the named services of a flow, or all of them.

    Raises:
        FlowError: as `parameters_of`.
        ModuleNotFoundError: the packages of the extra `service` are not installed.
    """
    from fourtier.runtime.process.flow_process import ProcessPlan

    return ProcessPlan(
        flow=flow.name,
        bus=bus_config(flow, settings),
        host=host_plan(flow, settings, services),
        health_host=flow.health_host,
        health_port=flow.health_port if settings.health_port is None else settings.health_port,
    )


def bus_config(flow: Flow, settings: Settings) -> BusConfig:
    """Where the flow's bus is."""
    certificates = settings.bus_trust_certificates
    return BusConfig(
        url=settings.bus_url or flow.bus.url,
        tenant=flow.tenant,
        namespace=flow.namespace,
        data=settings.data or DEFAULT_DATA,
        port=flow.bus.port if settings.bus_port is None else settings.bus_port,
        security=PulsarSecurity(
            token=secret(settings.bus_token),
            trust_certificates=str(certificates) if certificates else None,
        ),
        local_calls=flow.bus.local_calls,
        limits=dead_letter_limits(flow.bus.topics),
    )
