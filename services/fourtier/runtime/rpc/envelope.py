"""The properties around a payload, and which message is being handled right now."""

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.errors import MalformedError
from fourtier.schema.message import Message, Scoped

#: Names this one message, at every delivery.
ID = "id"
#: The caller's inbox; missing when nobody waits for an answer.
REPLY_TO = "reply-to"
#: For how many milliseconds the caller waits. A duration, so that no two clocks need to agree.
TIMEOUT = "timeout-ms"
#: Names one call, by an id that no client chooses. Its question has it each time that it is sent,
#: and so have its answers, heartbeats and cancellation. Other calls may ask with the same `id`.
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
#: When the message was published for the first time, in microseconds since 1970. A retry, a
#: redelivery and a replay of a dead letter have the time of the first one.
SENT_AT = "sent-at"
USER = "user"
COLLECTION = "collection"

#: Every caller's inbox begins so, and answers go nowhere else.
INBOX = "inbox."
_INBOX_NAME = re.compile(r"inbox\.[A-Za-z0-9-]{1,64}")
#: Digits of a duration that makes sense; Python raises for numbers of thousands of digits.
_MAX_DIGITS = 12
#: Digits of a time in microseconds, until the year 2286; and how much later than the broker's time
#: of publication one may be, which has milliseconds only, in microseconds.
_TIME_DIGITS, _AHEAD = 16, 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: What is remembered of a message must not grow with what a stranger wrote into its id.
_MAX_ID = 512

_current: ContextVar["Sequence[Envelope]"] = ContextVar("envelopes", default=())


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the runtime knows of a message besides its payload.

    Attributes:
        sent_at: when the message was published for the first time.
        timeout: seconds that the caller waits, counted from when the message arrives here.
    """

    id: str
    call: str
    reply_to: str | None
    sent_at: datetime
    timeout: float | None
    wants_heartbeats: bool = False
    is_retry: bool = False

    @classmethod
    def of(cls, delivery: Delivery) -> "Envelope":
        """Read the properties; a message without an id is named by the broker's.

        What is not an inbox is not answered: `check_reply_to` rejects such a message.
        """
        properties = delivery.properties
        reply_to = properties.get(REPLY_TO, "")
        message_id = (properties.get(ID) or delivery.id)[:_MAX_ID]
        return cls(
            id=message_id,
            call=call_of(properties) or message_id,
            reply_to=reply_to if _INBOX_NAME.fullmatch(reply_to) else None,
            sent_at=_EPOCH + timedelta(microseconds=first_sent_at(delivery)),
            timeout=_seconds(properties.get(TIMEOUT, "")),
            wants_heartbeats=properties.get(HEARTBEAT) == "true",
            is_retry=properties.get(RETRY) == "true",
        )


def first_sent_at(delivery: Delivery) -> int:
    """When a message was published for the first time, in microseconds since 1970.

    Where its publisher does not say so, or names a time in the future, when it was published.
    """
    published_at = int(delivery.published_at * 1_000_000)
    given = _number(delivery.properties.get(SENT_AT, ""), _TIME_DIGITS)
    if given is None or given > published_at + _AHEAD:
        return published_at
    return given


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
    number = _number(milliseconds, _MAX_DIGITS)
    return None if number is None else number / 1000


def _number(text: str, max_digits: int) -> int | None:
    if text.isascii() and text.isdecimal() and len(text) <= max_digits:
        return int(text)
    return None


def current_envelope() -> Envelope:
    """The envelope of the message that the current handler was given.

    Raises:
        LookupError: called outside of a handler.
    """
    envelopes = _current.get()
    if len(envelopes) != 1:
        raise LookupError("no message, or a batch, is being handled here")
    return envelopes[0]


def current_envelopes() -> Sequence[Envelope]:
    """The envelopes of the batch that the current handler was given, in its order.

    Raises:
        LookupError: called outside of a handler.
    """
    if not (envelopes := _current.get()):
        raise LookupError("no message is being handled here")
    return envelopes


def set_current_envelopes(envelopes: Sequence[Envelope]) -> None:
    """Tell the handler about to run which messages it handles; for the handler loop alone."""
    _current.set(envelopes)


def new_id() -> str:
    """A name for a message that no other has."""
    return uuid.uuid4().hex


class _Clock:
    """Tells the time in microseconds since 1970, and never the same twice."""

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(time.time_ns() // 1_000, self._last + 1)
        return self._last


_clock = _Clock()


def properties_for(message: Message) -> dict[str, str]:
    """Id, time and scope of a message about to be published."""
    properties = {ID: new_id(), SENT_AT: str(_clock.now())}
    if isinstance(message, Scoped):
        properties |= {USER: message.user, COLLECTION: message.collection}
    return properties
