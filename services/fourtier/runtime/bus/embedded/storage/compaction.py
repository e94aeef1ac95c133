"""Removes acknowledged messages from the disk, which `pulsar-lite` 0.2 never does by itself.

What is beyond the limits of its topic is removed as well. Run as a program:
`python -m fourtier.runtime.bus.embedded.storage.compaction DIRECTORY [LIMITS]`.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.bus.embedded.storage.dropping import Dropped, beyond
from fourtier.runtime.bus.embedded.storage.entry_logs import EntryLogs, database_in
from fourtier.runtime.bus.embedded.storage.index import Change, Index, Messages
from fourtier.runtime.bus.embedded.storage.records import (
    Cursor,
    Ledger,
    Location,
    Position,
    Span,
    Topic,
    UnknownLayoutError,
    encode_cursor,
    encode_ledgers,
)

#: The guard passes on lines that begin so.
_DROPPED = "Dropped unhandled messages:"
_BYTES_PER_MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was done.

    Attributes:
        removed: messages that every subscription had acknowledged.
        unreadable: messages that were damaged and could never have been delivered.
        dropped: messages beyond the limits of their topics, by topic.
        waiting: messages that are still stored.
        before: bytes of the entry logs, and `after` it.
    """

    removed: int
    unreadable: int
    waiting: int
    before: int
    after: int
    dropped: Sequence[Dropped] = ()


def compact(directory: Path, limits: TopicLimits | None = None) -> Compaction:
    """Remove what every subscription has acknowledged; the broker must not run.

    What is beyond the limits is removed as if it were acknowledged.

    A crash at any moment loses nothing: messages that stay are first copied to a new file and
    synced, then one atomic write of the index changes over to them, then the old files are removed.

    Raises:
        UnknownLayoutError: the files are of another version of the broker.
    """
    database = database_in(directory)
    logs = EntryLogs(database / "entrylog")
    if not (database / "CURRENT").exists():
        return Compaction(0, 0, 0, 0, 0)
    before = logs.size()
    index = Index(database)
    try:
        messages = index.read()
        unreadable = list(logs.unreadable(messages.waiting.items()))
        for position in unreadable:  # one of them would stop its topic for ever
            messages.acknowledged[position] = messages.waiting.pop(position)
        dropped = list(beyond(messages, logs, limits, time.time())) if limits else []
        beyond_limits = [each for some in dropped for each in (*some.expired, *some.surplus)]
        for position in beyond_limits:
            messages.acknowledged[position] = messages.waiting.pop(position)
        if messages.acknowledged:
            index.write(_change(messages, logs, index.next_ledger()))
        logs.remove_others({location.file for location in index.locations()})
        if messages.acknowledged:
            index.shrink()
    finally:
        index.close()
    _tidy(database)
    removed = len(messages.acknowledged) - len(unreadable) - len(beyond_limits)
    return Compaction(removed, len(unreadable), len(messages.waiting), before, logs.size(), dropped)


def _change(messages: Messages, logs: EntryLogs, next_ledger: int) -> Change:
    moving = _moving(messages)
    change = Change()
    for position in messages.acknowledged:
        change.remove(position)
    for position, location in (logs.copy(moving.items()) if moving else {}).items():
        change.move(position, location)
    change.set_next_ledger(_renew_topics(change, messages, next_ledger))
    return change


def _moving(messages: Messages) -> dict[Position, Location]:
    """The messages that stay, of files that others leave."""
    touched = {location.file for location in messages.acknowledged.values()}
    return {
        position: location
        for position, location in messages.waiting.items()
        if location.file in touched
    }


def _renew_topics(change: Change, messages: Messages, next_ledger: int) -> int:
    """Let ledgers and cursors name only what is left; returns the next free ledger id."""
    left: defaultdict[int, list[Position]] = defaultdict(list)
    for position in messages.waiting:
        left[position[0]].append(position)
    changed = {position[0] for position in messages.acknowledged}
    for topic in messages.topics:
        if changed.isdisjoint(ledger for ledger, _ in topic.ledgers):
            continue
        waiting = sorted(p for ledger, _ in topic.ledgers for p in left.get(ledger, ()))
        ledgers = _ledgers_left(topic, waiting)
        change.put(topic.key, encode_ledgers([*ledgers, (next_ledger, 0)]))
        next_ledger += 1
        for cursor in topic.cursors:
            change.put(cursor.key, encode_cursor(*_acknowledged_left(cursor, waiting, ledgers)))
    return next_ledger


def _ledgers_left(topic: Topic, waiting: list[Position]) -> list[Ledger]:
    """The ledgers from the first message to the last, which ends its ledger."""
    if not waiting:
        return []
    first, (last, end) = waiting[0][0], waiting[-1]
    return [
        (ledger, end + 1 if ledger == last else entries)
        for ledger, entries in topic.ledgers
        if first <= ledger <= last and entries
    ]


def _acknowledged_left(
    cursor: Cursor, waiting: list[Position], ledgers: list[Ledger]
) -> tuple[Position | None, list[Span]]:
    """What the subscription has acknowledged, in terms of the messages that are left."""
    first_missing = next((position for position in waiting if not cursor.has(position)), None)
    if first_missing is None:
        return (waiting[-1] if waiting else None), []
    spans = [(max(first, first_missing), min(last, waiting[-1])) for first, last in cursor.spans]
    left = [(first, last) for first, last in spans if first <= last]
    return _position_before(first_missing, ledgers), left


def _position_before(position: Position, ledgers: list[Ledger]) -> Position | None:
    ledger, entry = position
    if entry:
        return ledger, entry - 1
    earlier = [item for item in ledgers if item[0] < ledger]
    return (earlier[-1][0], earlier[-1][1] - 1) if earlier else None


def _tidy(database: Path) -> None:
    """Remove the broker's logs of earlier starts, and a file of the library's own."""
    for path in [*database.glob("LOG.old.*"), database / "rocksdict-config.json"]:
        path.unlink(missing_ok=True)


def main() -> int:
    """Compact, and say in one line what was done; more lines say what was lost."""
    limits = TopicLimits.load(sys.argv[2]) if sys.argv[2:] else None
    try:
        done = compact(Path(sys.argv[1]), limits)
    except UnknownLayoutError as error:
        sys.stderr.write(f"Nothing was removed: the broker's files are not understood: {error}.\n")
        return 1
    sys.stdout.write(
        f"Compacted: {done.removed} acknowledged messages removed, {done.waiting} still stored; "
        f"{_megabytes(done.before)} became {_megabytes(done.after)}.\n"
    )
    if done.unreadable:
        sys.stdout.write(f"{done.unreadable} damaged messages could not be read.\n")
    for each in done.dropped:
        sys.stdout.write(
            f"{_DROPPED} {len(each.expired) + len(each.surplus)} on {each.topic}, "
            f"{len(each.expired)} too old and {len(each.surplus)} too many.\n"
        )
    return 0


def _megabytes(size: int) -> str:
    return f"{size / _BYTES_PER_MEGABYTE:.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
