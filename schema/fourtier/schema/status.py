"""Messages that every service answers: which version it is and how much it stores."""

from functools import cache
from typing import Literal

from pydantic import Field

from fourtier.schema.message import Answer, Message, Timestamp
from fourtier.schema.topics import Call, query


class StatusRequest(Message):
    """Ask a service how it is; any one of its replicas answers."""


class StoreCount(Message):
    """How many of one kind of thing a store has, in all scopes together."""

    store: Literal["graph", "vectors"]
    kind: str
    number: int = Field(ge=0)


class StatusResponse(Answer):
    """How the replica that answers is.

    `store_problem` says why its stores could not be counted; `store_counts` is empty then.
    """

    version: str
    started_at: Timestamp
    store_counts: tuple[StoreCount, ...] = ()
    store_problem: str = ""


StatusCall = Call[StatusRequest, StatusResponse]


@cache
def status_of(service: str) -> StatusCall:
    """The call that a service answers, also one that another package brings."""
    return query(f"{service}.status", StatusRequest, StatusResponse)
