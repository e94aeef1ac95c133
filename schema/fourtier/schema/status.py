"""Messages that every service answers: which version it is and how much it keeps."""

from typing import Literal

from pydantic import Field

from fourtier.schema.message import Answer, Message, Timestamp
from fourtier.schema.topics import Call, reading


class StatusRequest(Message):
    """Ask a service how it is; any one of its replicas answers."""


class Kept(Message):
    """How many of one kind of thing a store has, in all scopes together."""

    store: Literal["graph", "vectors"]
    kind: str
    number: int = Field(ge=0)


class StatusResponse(Answer):
    """How the replica that answers is.

    `trouble` says why its stores could not be counted; `kept` is empty then.
    """

    version: str
    started_at: Timestamp
    kept: tuple[Kept, ...] = ()
    trouble: str = ""


StatusCall = Call[StatusRequest, StatusResponse]


def status_of(service: str) -> StatusCall:
    """The call that a service answers, also one that another package brings."""
    return reading(f"{service}.status", StatusRequest, StatusResponse)


AGENT_STATUS = status_of("agent")
COMPLETION_STATUS = status_of("completion")
CONVERSATIONS_STATUS = status_of("conversations")
EMBEDDINGS_STATUS = status_of("embeddings")
EPISODES_STATUS = status_of("episodes")
EXTRACTION_STATUS = status_of("extraction")
FACTS_STATUS = status_of("facts")
PROMOTION_STATUS = status_of("promotion")
WORKING_MEMORY_STATUS = status_of("working-memory")
