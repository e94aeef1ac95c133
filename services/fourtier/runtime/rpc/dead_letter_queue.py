"""The dead-letter queue of a service: messages that it could not handle, with the reason."""

import time
from typing import Any

from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.bus.contract import Address, Delivery
from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.errors import MalformedError
from fourtier.runtime.rpc import envelope
from fourtier.schema.topics import Topic

DEAD_LETTERS = "dead-letters"
#: The subscription by which operators read the dead letters.
OPERATOR = "operator"

#: Properties of a dead letter, besides those that the message had.
TOPIC = "dead-topic"
KEY = "dead-key"
#: `true` when its topic is a persistent one.
PERSISTENT = "dead-persistent"
REASON = "dead-error"
ATTEMPTS = "dead-attempts"
AT = "dead-at"
_LONGEST_REASON = 2_000
#: What the reason of a message that nobody can read begins with.
MALFORMED = f"{MalformedError.type}: "
_SECONDS_PER_DAY = 86_400
_BYTES_PER_MEGABYTE = 1_000_000


def dead_letter_address(service: str) -> Address:
    """Where a service puts messages that it could not handle."""
    return Address(f"{DEAD_LETTERS}.{service}")


def dead_letter_limits(policy: RetentionPolicy) -> TopicLimits:
    """What the embedded bus stores of dead letters: malformed ones are the first to go."""
    return TopicLimits(
        prefix=f"{DEAD_LETTERS}.",
        seconds=policy.dead_letter_ttl_days * _SECONDS_PER_DAY,
        size=policy.dead_letter_megabytes * _BYTES_PER_MEGABYTE,
        property=REASON,
        value=MALFORMED,
    )


def is_malformed(reason: str) -> bool:
    """Whether a dead letter with this reason can never be handled, as nobody can read it."""
    return reason.startswith(MALFORMED)


def dead_letter_properties(
    topic: Topic[Any], delivery: Delivery, reason: str, attempts: int
) -> dict[str, str]:
    """The message's own properties, and why it failed."""
    return dict(delivery.properties) | {
        envelope.SENT_AT: str(envelope.first_sent_at(delivery)),
        TOPIC: topic.name,
        KEY: delivery.key,
        PERSISTENT: "true" if topic.persistent else "false",
        REASON: reason[:_LONGEST_REASON],
        ATTEMPTS: str(attempts),
        AT: str(int(time.time() * 1000)),
    }
