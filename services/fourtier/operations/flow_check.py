"""Whether the services of a flow have what they need of each other."""

from collections.abc import Mapping

from fourtier.flows.model import Flow, FlowError
from fourtier.flows.parameters import parameters_of
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.service.stores.schemas import Stores
from fourtier.schema.erasure import erasure

#: Services without which another one cannot work. Classes declare what a service handles, but not
#: what it asks for, so it stands here.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "agent": ("completion",),
    "archive": ("embeddings",),
    "episodes": ("embeddings",),
    "facts": ("embeddings",),
    "memoriser": ("archive",),
    "researcher": ("archive",),
}
#: What a user loses where a service is missing; the others work without it.
_LOSSES: Mapping[str, Mapping[str, str]] = {
    "agent": {
        "facts": "answers are made without facts",
        "archive": "answers are made without what was said elsewhere, word for word",
        "episodes": "answers are made without episodes",
        "conversations": "answers are made without what was said before",
        "working-memory": "a run that is cut off begins again, and tools that must not run twice "
        "are rejected",
        "researcher": "the archive is searched once for each question",
        "extraction": "nothing is learned from what is said",
    },
    "extraction": {
        "facts": "the facts that it finds are not stored",
        "episodes": "the episodes that it finds are not stored",
    },
    "researcher": {
        "working-memory": "a research by the model that is cut off begins again",
    },
    "archive": {"memoriser": "the pages of the archive have no memos"},
    "conversations": {"promotion": "nothing lasting is made of a conversation that ends"},
}
#: Parameters by which a service works with the language model.
_BY_MODEL = {
    "extraction": "method",
    "memoriser": "method",
    "promotion": "method",
    "researcher": "method",
    "working-memory": "compression",
}


def check_flow(flow: Flow) -> list[str]:
    """Check the parameters of all services, and that no service lacks another one that it needs.

    Returns: warnings, for what works with a loss.

    Raises:
        FlowError: a parameter is wrong, or a service cannot work without one that is missing.
        StartupError: a service is not installed.
    """
    parameters = {name: parameters_of(flow, name) for name in flow.services}
    wrong = [
        f"services.{name}: it needs the service {needed}, which the flow does not have"
        for name, values in parameters.items()
        for needed in _needs(name, values)
        if needed not in parameters
    ]
    if wrong:
        raise FlowError(f"flow {flow.name}: {'; '.join(wrong)}")
    warnings = [
        f"without {missing} {loss} (needed by {name})"
        for name in parameters
        for missing, loss in _LOSSES.get(name, {}).items()
        if missing not in parameters
    ]
    warnings += [
        f"services.{name}: it has stores and handles no {erasure(name).topic.name}, so forgetting "
        f"does not reach it"
        for name in parameters
        if _stores_beyond_forgetting(name)
    ]
    return warnings if "agent" in parameters else [*warnings, "without agent nobody answers"]


def _needs(service: str, parameters: Parameters) -> tuple[str, ...]:
    needed = _NEEDS.get(service, ())
    by_model = getattr(parameters, _BY_MODEL.get(service, ""), None) == "llm"
    return (*needed, "completion") if by_model else needed


def _stores_beyond_forgetting(name: str) -> bool:
    service = load_service(name)
    handled = {handler.topic.name for handler in service.handlers()}
    has_stores = service.stores != Stores()
    return has_stores and erasure(name).topic.name not in handled
