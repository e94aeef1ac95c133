"""Which messages are dropped though nobody has acknowledged them, as their topic has limits."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.bus.embedded.storage.entry_logs import EntryLogs
from fourtier.runtime.bus.embedded.storage.index import Messages
from fourtier.runtime.bus.embedded.storage.records import Location, Position


@dataclass(frozen=True, slots=True)
class Dropped:
    """Messages of one topic that are dropped.

    Attributes:
        topic: its name, without tenant and namespace.
        expired: those that are too old.
        surplus: those that are too many, although they are not too old.
    """

    topic: str
    expired: Sequence[Position]
    surplus: Sequence[Position]


def beyond(
    messages: Messages, logs: EntryLogs, limits: TopicLimits, now: float
) -> Iterator[Dropped]:
    """What is beyond the limits, by topic.

    Args:
        messages: of which those that wait must be whole.
        logs: where they stand.
        limits: of the topics that have some.
        now: seconds since 1970.
    """
    for topic, waiting in _topics(messages, limits.prefix).items():
        expired, first, later = list[Position](), list[Position](), list[Position]()
        for position, published in logs.published(waiting.items()):
            if limits.seconds and now - published.at > limits.seconds:
                expired.append(position)
            elif published.properties.get(limits.property, "").startswith(limits.value):
                first.append(position)
            else:
                later.append(position)
        lengths = [(each, waiting[each].length) for each in (*sorted(first), *sorted(later))]
        surplus = list(_surplus(lengths, limits.size))
        if expired or surplus:
            yield Dropped(topic, expired, surplus)


def _topics(messages: Messages, prefix: str) -> Mapping[str, Mapping[Position, Location]]:
    """The waiting messages of the topics whose names begin so."""
    names = {
        ledger: name
        for topic in messages.topics
        if (name := unquote(topic.key.decode()).rpartition("/")[2]).startswith(prefix)
        for ledger, _ in topic.ledgers
    }
    found: defaultdict[str, dict[Position, Location]] = defaultdict(dict)
    for position, location in messages.waiting.items():
        if position[0] in names:
            found[names[position[0]]][position] = location
    return found


def _surplus(lengths: Sequence[tuple[Position, int]], size: int) -> Iterator[Position]:
    """Messages from the beginning of the list, until the others fit."""
    too_much = sum(length for _, length in lengths) - size
    for position, length in lengths:
        if too_much <= 0:
            return
        too_much -= length
        yield position
