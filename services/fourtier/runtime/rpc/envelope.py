"""The properties around a payload, and which message is being handled right now."""

import re
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from fourtier.runtime.errors import MalformedError
from fourtier.schema.message import Message, Scoped

#: Names this one message, at every delivery.
ID = "id"
#: The caller's inbox; missing when nobody waits for an answer.
REPLY_TO = "reply-to"
#: For how many milliseconds the caller waits. A duration, so that no two clocks need to agree.
TIMEOUT = "timeout-ms"
#: Names one call: its question has it each time that it is sent, and its cancellation too. Another
#: call may ask with the same id later, which a cancellation of the first one must not end.
CALL = "call"
#: `true` on the last answer to a call.
LAST = "last"
#: On the answers of a stream: its number, from 0, so that a lost one is noticed.
SEQUENCE = "sequence"
#: On an answer that is an error: its type.
ERROR = "error"
#: `true` on a question whose caller wants heartbeats while it is in flight, and on a heartbeat.
HEARTBEAT = "heartbeat"
#: `true` on a question that its caller sends again; it may be in flight, so it is never shed.
RETRY = "retry"
USER = "user"
COLLECTION = "collection"

#: Every caller's inbox begins so, and answers go nowhere else.
INBOX = "inbox."
_INBOX_NAME = re.compile(r"inbox\.[A-Za-z0-9-]{1,64}")
#: Digits of a duration that makes sense; Python raises for numbers of thousands of digits.
_MAX_DIGITS = 12
#: What is remembered of a message must not grow with what a stranger wrote into its id.
_MAX_ID = 512

_current: ContextVar["Envelope | None"] = ContextVar("envelope", default=None)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the runtime knows of a message besides its payload.

    Attributes:
        timeout: seconds that the caller waits, counted from when the message arrives here.
    """

    id: str
    call: str
    reply_to: str | None
    timeout: float | None
    wants_heartbeats: bool = False
    is_retry: bool = False

    @classmethod
    def of(cls, properties: Mapping[str, str], broker_id: str) -> "Envelope":
        """Read the properties; a message without an id is named by the broker's.

        What is not an inbox is not answered: `check_reply_to` rejects such a message.
        """
        reply_to = properties.get(REPLY_TO, "")
        message_id = (properties.get(ID) or broker_id)[:_MAX_ID]
        return cls(
            id=message_id,
            call=call_of(properties) or message_id,
            reply_to=reply_to if _INBOX_NAME.fullmatch(reply_to) else None,
            timeout=_seconds(properties.get(TIMEOUT, "")),
            wants_heartbeats=properties.get(HEARTBEAT) == "true",
            is_retry=properties.get(RETRY) == "true",
        )


def call_of(properties: Mapping[str, str]) -> str:
    """The call that a question or a cancellation belongs to; empty when it names none."""
    return properties.get(CALL, "")[:_MAX_ID]


def check_reply_to(properties: Mapping[str, str]) -> None:
    """See that answers go to an inbox, not to a topic that somebody else reads.

    Raises:
        MalformedError: they would not.
    """
    reply_to = properties.get(REPLY_TO, "")
    if reply_to and not _INBOX_NAME.fullmatch(reply_to):
        raise MalformedError(
            f"its {REPLY_TO} must be {INBOX} and 1 to 64 letters, digits or hyphens: the topic "
            f"that its caller alone reads"
        )


def _seconds(milliseconds: str) -> float | None:
    """A number out of a property; what is not one counts as not given."""
    if milliseconds.isascii() and milliseconds.isdecimal() and len(milliseconds) <= _MAX_DIGITS:
        return int(milliseconds) / 1000
    return None


def current_envelope() -> Envelope:
    """The envelope of the message that the current handler was given.

    Raises:
        LookupError: called outside of a handler.
    """
    envelope = _current.get()
    if envelope is None:
        raise LookupError("no message is being handled here")
    return envelope


def set_current_envelope(envelope: Envelope) -> None:
    """Tell the handler about to run which message it handles; for the handler loop alone."""
    _current.set(envelope)


def new_id() -> str:
    """A name for a message that no other has."""
    return uuid.uuid4().hex


def properties_for(message: Message) -> dict[str, str]:
    """Id and scope of a message about to be published."""
    properties = {ID: new_id()}
    if isinstance(message, Scoped):
        properties |= {USER: message.user, COLLECTION: message.collection}
    return properties
