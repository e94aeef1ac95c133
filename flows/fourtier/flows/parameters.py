"""The parameters that a flow gives to its services, checked by each service's own model."""

from pydantic import ValidationError

from fourtier.flows.model import Flow, FlowError
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.validation import in_words


def parameters_of(flow: Flow, service: str) -> Parameters:
    """A service's parameters.

    Raises:
        FlowError: the flow does not have the service, or a parameter is unknown or wrong.
        StartupError: the service is not installed.
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
