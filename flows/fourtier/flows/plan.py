"""From a flow and the environment to what a host runs."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from fourtier.flows.model import Flow, FlowError
from fourtier.runtime.bus.opening import BusConfig
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity
from fourtier.runtime.process.flow_process import ProcessPlan
from fourtier.runtime.process.host import HostPlan
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.settings import Settings, secret
from fourtier.runtime.validation import in_words

DEFAULT_DATA = Path(".fourtier")


def parameters_of(flow: Flow, service: str) -> Parameters:
    """A service's parameters, checked by the service's own model.

    Raises:
        FlowError: the flow does not have the service, or a parameter is unknown or wrong.
    """
    if service not in flow.services:
        raise FlowError(
            f"the flow {flow.name} has no service {service!r}; it has: {', '.join(flow.services)}"
        )
    try:
        return load_service(service).parameters.model_validate(flow.services[service] or {})
    except ValidationError as error:
        wrong = in_words(error, "the service", inside=f"services.{service}")
        raise FlowError(f"flow {flow.name}: {wrong}") from error


def host_plan(flow: Flow, settings: Settings, services: Sequence[str] = ()) -> HostPlan:
    """What to run: the named services of a flow, or all of them.

    Raises:
        FlowError: as `parameters_of`.
    """
    return HostPlan(
        services={name: parameters_of(flow, name) for name in services or flow.services},
        engines=engines_of(flow, settings),
        data=settings.data or DEFAULT_DATA,
        settings=settings,
        limits=flow.limits,
    )


def engines_of(flow: Flow, settings: Settings) -> EnginesConfig:
    """Where the flow's stores are and how they are kept."""
    named = {"graph": settings.graph_url, "vectors": settings.vectors_url}
    return flow.engines.model_copy(update={key: url for key, url in named.items() if url})


def process_plan(flow: Flow, settings: Settings, services: Sequence[str] = ()) -> ProcessPlan:
    """What a process runs: the named services of a flow, or all of them.

    Raises:
        FlowError: as `parameters_of`.
    """
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
    )
