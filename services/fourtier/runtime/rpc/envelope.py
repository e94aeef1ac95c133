"""The properties around a payload, and which message is being handled right now."""

import time
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from fourtier.schema.message import Message, Scoped

#: Names this one message, at every delivery.
ID = "id"
#: The caller's inbox; missing when nobody waits for an answer.
REPLY_TO = "reply-to"
#: Unix time in milliseconds after which nobody waits any more.
DEADLINE = "deadline"
#: `true` on the last answer to a call.
LAST = "last"
#: On the answers of a stream: its number, from 0, so that a lost one is noticed.
PIECE = "piece"
#: On an answer that is an error: its type.
ERROR = "error"
#: `true` on a question whose caller wants signs while it is in hand, and on such a sign.
SIGNS, ALIVE = "signs", "alive"
#: `true` on a question that is asked once more; it may be under way, so it is never refused.
AGAIN = "again"
USER = "user"
COLLECTION = "collection"

#: Digits of a moment that makes sense; Python refuses to read numbers of thousands of digits.
_LONGEST_NUMBER = 18

_handling: ContextVar["Envelope | None"] = ContextVar("handling", default=None)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the runtime knows of a message besides its payload."""

    id: str
    reply_to: str | None
    deadline: float | None
    signs: bool = False
    again: bool = False

    @classmethod
    def of(cls, properties: Mapping[str, str], broker_id: str) -> "Envelope":
        """Read the properties; a message without an id is named by the broker's."""
        return cls(
            id=properties.get(ID) or broker_id,
            reply_to=properties.get(REPLY_TO) or None,
            deadline=_seconds(properties.get(DEADLINE, "")),
            signs=properties.get(SIGNS) == "true",
            again=properties.get(AGAIN) == "true",
        )

    @property
    def expired(self) -> bool:
        """Whether the caller has stopped waiting."""
        return self.deadline is not None and time.time() > self.deadline


def _seconds(milliseconds: str) -> float | None:
    """A number out of a property; what is none counts as not given."""
    if milliseconds.isascii() and milliseconds.isdecimal() and len(milliseconds) <= _LONGEST_NUMBER:
        return int(milliseconds) / 1000
    return None


def handling() -> Envelope:
    """The envelope of the message that the current handler was given.

    Raises:
        LookupError: called outside of a handler.
    """
    envelope = _handling.get()
    if envelope is None:
        raise LookupError("no message is being handled here")
    return envelope


def set_handling(envelope: Envelope) -> None:
    """Tell the handler about to run which message it handles; for the serving loop alone."""
    _handling.set(envelope)


def new_id() -> str:
    """A name for a message that no other has."""
    return uuid.uuid4().hex


def properties_for(message: Message) -> dict[str, str]:
    """Id and scope of a message about to be published."""
    properties = {ID: new_id()}
    if isinstance(message, Scoped):
        properties |= {USER: message.user, COLLECTION: message.collection}
    return properties
