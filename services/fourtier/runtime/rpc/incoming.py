"""Reading a delivery: the message in it, whether it is right, and whether it is still wanted."""

import logging
import time
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.errors import MalformedError
from fourtier.runtime.rpc import instrumentation
from fourtier.runtime.rpc.envelope import Envelope, check_reply_to
from fourtier.runtime.validation import in_words
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic

log = logging.getLogger(__name__)

M = TypeVar("M", bound=Message)

#: By how many seconds the clocks of a publisher and of this process may differ.
_CLOCK_SKEW = 5.0


@dataclass(frozen=True, slots=True)
class Incoming:
    """A delivery whose payload could be read."""

    delivery: Delivery
    envelope: Envelope
    message: Message


def read(
    delivery: Delivery, received: Envelope, topic: Topic[Any], service: str
) -> Incoming | None:
    """Read a payload; None when its caller does not wait any more.

    Raises:
        MalformedError: it is not what the topic carries.
    """
    check_reply_to(delivery.properties)
    if _is_expired(delivery, received, topic, service):
        return None
    try:
        message = message_of(delivery, topic.payload)
    except ValidationError as error:
        wrong = in_words(error, "payload")
        raise MalformedError(f"is not a valid {error.title}: {wrong}") from error
    return Incoming(delivery, received, message)


def message_of(delivery: Delivery, kind: type[M]) -> M:
    """The message of a delivery, read from JSON unless it was handed over as it is.

    Raises:
        ValidationError: it is none of that kind.
    """
    message = delivery.message
    if message is None:
        return kind.model_validate_json(delivery.payload)
    if type(message) is kind:
        return message
    return kind.model_validate_json(message.model_dump_json())


def _is_expired(delivery: Delivery, received: Envelope, topic: Topic[Any], service: str) -> bool:
    """Whether a query has waited for its turn longer than its caller waits for the answer.

    One that the broker has stored may have waited there, which only the clock of its publisher
    tells. Where that clock is wrong nothing is lost: a caller that still waits and hears nothing
    sends the query again as a retry, for which it does not count.
    """
    if received.timeout is None or (topic.persistent and not topic.for_caller):
        return False
    waited = time.monotonic() - delivery.received_at
    if topic.persistent and not received.is_retry:
        waited = max(waited, time.time() - delivery.published_at - _CLOCK_SKEW)
    if waited < received.timeout:
        return False
    instrumentation.count_expired(service, topic.name)
    log.info(
        "A query on %s waited %.1f s for its turn%s, longer than its caller does.",
        topic.name,
        waited,
        " by the clock of its publisher" if topic.persistent else "",
        extra={"service": service, "message_id": received.id},
    )
    return True
