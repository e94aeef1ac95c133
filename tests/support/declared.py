"""All topics and calls of the installed services, as their classes declare them."""

from typing import Any

from fourtier.runtime.service.registry import declared_handlers, service_names
from fourtier.schema.status import status_of
from fourtier.schema.topics import Call, Topic


def all_declared() -> list[Topic[Any] | Call[Any, Any]]:
    """Each topic and call once, those that every service has included."""
    found: dict[str, Topic[Any] | Call[Any, Any]] = {}
    for _, handler in declared_handlers(service_names()):
        found[handler.topic.name] = handler.call or handler.topic
    for name in service_names():
        found[f"{name}.status"] = status_of(name)
    return [found[name] for name in sorted(found)]


def handled_by(service: str) -> list[Topic[Any]]:
    """The topics that a service handles."""
    declared = [handler.topic for _, handler in declared_handlers([service])]
    return [*declared, status_of(service).topic]


def topic_of(declared: Topic[Any] | Call[Any, Any]) -> Topic[Any]:
    """The topic that it travels on."""
    return declared.topic if isinstance(declared, Call) else declared
