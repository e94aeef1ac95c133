"""Which service handles which message on which topic, as the installed services declare it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from fourtier.runtime.service.flow_services import GROUP as FLOW
from fourtier.runtime.service.registry import declared_handlers
from fourtier.schema.flow import FLOW_SERVICES
from fourtier.schema.status import status_of
from fourtier.schema.topics import Call, Topic


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic, and one subscription to it.

    Attributes:
        subscription: the name under which the service's replicas share the topic; the service's.
        kind: `event` is one-way, a `call` has one answer, a `stream` has several.
        answer: the message that comes back; empty for an event.
        persistent: whether the broker stores messages until they are acknowledged.
    """

    topic: str
    service: str
    subscription: str
    kind: Literal["event", "call", "stream"]
    message: str
    answer: str
    persistent: bool


def list_topics(services: Iterable[str]) -> list[TopicRow]:
    """Every topic of the services, the status calls and the flow's own call included.

    Raises:
        StartupError: a service cannot be loaded.
    """
    return sorted(_rows(list(services)), key=lambda row: (row.service, row.topic))


def _rows(services: list[str]) -> Iterator[TopicRow]:
    for service, handler in declared_handlers(services):
        yield _row(service, handler.topic, handler.call)
    for service in services:
        status = status_of(service)
        yield _row(service, status.topic, status)
    yield _row(FLOW, FLOW_SERVICES.topic, FLOW_SERVICES)


def _row(service: str, topic: Topic[Any], call: Call[Any, Any] | None) -> TopicRow:
    return TopicRow(
        topic=topic.name,
        service=service,
        subscription=service,
        kind="event" if call is None else "stream" if call.last else "call",
        message=topic.payload.__name__,
        answer=call.answer.__name__ if call else "",
        persistent=topic.persistent,
    )
