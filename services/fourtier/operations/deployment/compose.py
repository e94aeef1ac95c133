"""The containers of the services in docker-compose.yaml; the rest of the file is its template."""

from collections.abc import Sequence
from typing import Any

from fourtier.operations.deployment.declared import DeployedService
from fourtier.operations.deployment.documents import (
    MERGE,
    Alias,
    InlineDict,
    InlineList,
    dumped,
)

#: The anchors of the template with the environment of those who use an engine.
_ENVIRONMENTS = ("graph", "model")


def containers(flow: str, services: Sequence[DeployedService]) -> str:
    """A container for each service, those first that others wait for."""
    ordered = sorted(services, key=lambda service: bool(service.starts_after))
    return "\n".join(dumped({each.name: _container(flow, each)}) for each in ordered)


def _container(flow: str, service: DeployedService) -> dict[Any, Any]:
    container: dict[Any, Any] = {
        MERGE: Alias("service"),
        "command": InlineList(["serve", flow, service.name]),
    }
    used = [Alias(engine) for engine in service.uses if engine in _ENVIRONMENTS]
    if used:
        merged = InlineList([Alias("environment"), *used])
        container["environment"] = InlineDict({MERGE: merged})
    if service.profile.uses_model:
        container["extra_hosts"] = Alias("model-host")
    if service.starts_after:
        container["depends_on"] = {
            other: InlineDict(condition="service_healthy") for other in service.starts_after
        }
    return container
