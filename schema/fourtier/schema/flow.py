"""Messages about a flow itself: which services it has, and what each of them handles."""

from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import query


class FlowServicesRequest(Message):
    """Ask which services a flow has; the process of its first service answers."""


class DeclaredService(Message):
    """A service of the flow, and the names of the topics and calls that it handles."""

    name: str
    handles: tuple[str, ...]


class FlowServicesResponse(Answer):
    """All services of the flow, those of other processes and of other packages included."""

    services: tuple[DeclaredService, ...]


FLOW_SERVICES = query("flow.services", FlowServicesRequest, FlowServicesResponse)
