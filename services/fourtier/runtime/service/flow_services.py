"""Answers which services the flow has, so that a caller reaches those of other packages too."""

from collections.abc import Iterable

from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.runtime.service.declaration import Service
from fourtier.schema.flow import (
    FLOW_SERVICES,
    DeclaredService,
    FlowServicesRequest,
    FlowServicesResponse,
)

#: The subscription that the replicas of the flow's first service share.
GROUP = "flow"


def flow_services_route(services: Iterable[type[Service]]) -> Route:
    """The route that answers with the declarations of the flow's services."""
    declared = FlowServicesResponse(
        services=tuple(
            DeclaredService(
                name=service.name, handles=tuple(each.topic.name for each in service.handlers())
            )
            for service in services
        )
    )

    async def answer(_request: FlowServicesRequest) -> FlowServicesResponse:
        return declared

    return call_route(FLOW_SERVICES, answer)
