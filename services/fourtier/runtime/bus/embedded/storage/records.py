"""What `pulsar-lite` 0.2 stores, as values: positions, ledgers, cursors and locations.

The messages stand one after another in files `entrylog/<number>.log`. RocksDB holds

- `/managed-ledgers/<tenant>/<namespace>/<domain>/<topic>`: the topic's ledgers,
- the same with `/<subscription>` behind it: its cursor, what the subscription has acknowledged,
- `entry|<ledger>|<entry>`: the file, offset and length of one message,
- `managed_ledger|next_ledger_id`: the next free id.

Each start of the broker opens a new entry log, so that older files never change.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Self

from google.protobuf.message import DecodeError, Message

from fourtier.runtime.bus.protobuf import declare, has_unknown_fields

#: The ledger and the number of a message in it: its name on the bus.
Position = tuple[int, int]
#: A first and a last position, both included.
Span = tuple[Position, Position]
#: The id of a ledger and how many entries it has.
Ledger = tuple[int, int]

_LOCATION = struct.Struct("<QQQQi")
#: Magic number, version, size of this, ledger, entry, partition, two lengths, sum of all bytes.
_HEADER = struct.Struct("<IHHQQiIIQ")
_MAGIC = 0x504C4547
_VERSION = 2

_MESSAGES: dict[str, type[Any]] = dict(
    declare(
        "fourtier.pulsar_lite",
        {
            "Ledger": {
                "id": (1, "int64"),
                "entries": (2, "int64"),
                "size": (3, "int64"),
                "timestamp": (4, "int64"),
            },
            "Ledgers": {"ledgers": (1, "repeated Ledger")},
            "Property": {"key": (1, "bytes"), "value": (2, "bytes")},
            "Metadata": {"publish_time": (3, "uint64"), "properties": (4, "repeated Property")},
            "End": {"ledger": (1, "int64"), "entry": (2, "int64")},
            "Range": {"first": (1, "End"), "last": (2, "End")},
            "Cursor": {
                "ledger_of_cursor": (1, "int64"),
                "ledger": (2, "int64"),
                "entry": (3, "int64"),
                "acknowledged": (4, "repeated Range"),
            },
        },
    )
)


class UnknownLayoutError(Exception):
    """The broker's files are not laid out as this package knows them; nothing was changed."""


@dataclass(slots=True)
class Cursor:
    """What a subscription has acknowledged: all up to `done`, and `spans`, which are in order."""

    key: bytes
    done: Position | None
    spans: list[Span]

    def has(self, position: Position) -> bool:
        """Whether the subscription has acknowledged the message."""
        if self.done is not None and position <= self.done:
            return True
        before = bisect_right(self.spans, position, key=lambda span: span[0])
        return before > 0 and position <= self.spans[before - 1][1]

    @classmethod
    def parse(cls, key: bytes, value: bytes) -> Self:
        """Read a cursor; raises UnknownLayoutError."""
        stored = _parse("Cursor", value)
        spans = [(_position(span.first), _position(span.last)) for span in stored.acknowledged]
        has_done = stored.HasField("ledger") and stored.HasField("entry")
        return cls(key, _position(stored) if has_done else None, sorted(spans))


@dataclass(slots=True)
class Topic:
    """A persistent topic: where its messages are, and what its subscriptions have acknowledged."""

    key: bytes
    ledgers: list[Ledger]
    cursors: list[Cursor] = field(default_factory=list)

    def is_acknowledged(self, position: Position) -> bool:
        """Whether every subscription has it; a topic without subscriptions stores all."""
        return bool(self.cursors) and all(cursor.has(position) for cursor in self.cursors)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a message stands: `length` bytes at `offset` of the entry log `file`."""

    file: int
    offset: int
    length: int
    checksum: int
    partition: int

    @classmethod
    def parse(cls, value: bytes) -> Self:
        """Read a location; raises UnknownLayoutError."""
        if len(value) != _LOCATION.size:
            raise UnknownLayoutError(f"a message's location has {len(value)} bytes")
        return cls(*_LOCATION.unpack(value))

    def moved(self, file: int, offset: int) -> bytes:
        """The same message at another location, as the broker stores it."""
        return _LOCATION.pack(file, offset, self.length, self.checksum, self.partition)


def is_whole(record: bytes, position: Position, location: Location) -> bool:
    """Whether a message can be read. The same checks as the broker's, which fails where they do."""
    if len(record) != location.length or len(record) < _HEADER.size:
        return False
    magic, version, size, ledger, entry, _, metadata, payload, checksum = _HEADER.unpack_from(
        record
    )
    return (
        (magic, version, size) == (_MAGIC, _VERSION, _HEADER.size)
        and (ledger, entry) == position
        and size + metadata + payload == location.length
        and sum(record[_HEADER.size :]) == checksum == location.checksum
    )


@dataclass(frozen=True, slots=True)
class Published:
    """What a message says of itself: when it was published, in seconds since 1970, and more."""

    at: float
    properties: Mapping[str, str]

    @classmethod
    def parse(cls, record: bytes) -> Self:
        """Read the beginning of a message that is whole.

        One that no client of Pulsar's has written may say nothing of itself: it is never too old.
        """
        end = _HEADER.size + int(_HEADER.unpack_from(record)[6])
        try:
            stored: Any = _MESSAGES["Metadata"].FromString(record[_HEADER.size : end])
        except DecodeError:
            return cls(inf, {})
        properties = {
            each.key.decode(errors="replace"): each.value.decode(errors="replace")
            for each in stored.properties
        }
        return cls(stored.publish_time / 1000, properties)


def parse_ledgers(value: bytes) -> list[Ledger]:
    """Read a topic's ledgers; raises UnknownLayoutError."""
    stored = _parse("Ledgers", value).ledgers
    if any(not ledger.HasField("id") or ledger.id < 0 for ledger in stored):
        raise UnknownLayoutError("a ledger has no id")
    return [(ledger.id, ledger.entries) for ledger in stored]


def encode_ledgers(ledgers: Iterable[Ledger]) -> bytes:
    """Write a topic's ledgers. The broker needs sizes only for its metrics: they begin at 0."""
    stored = _MESSAGES["Ledgers"]()
    for ledger, entries in ledgers:
        stored.ledgers.add(id=ledger, entries=entries, size=0, timestamp=0)
    return bytes(stored.SerializeToString())


def encode_cursor(done: Position | None, spans: Iterable[Span]) -> bytes:
    """Write a cursor."""
    stored = _MESSAGES["Cursor"](ledger_of_cursor=-1)
    if done is not None:
        stored.ledger, stored.entry = done
    for first, last in spans:
        span = stored.acknowledged.add()
        span.first.ledger, span.first.entry = first
        span.last.ledger, span.last.entry = last
    return bytes(stored.SerializeToString())


def _parse(name: str, value: bytes) -> Any:
    try:
        message: Message = _MESSAGES[name].FromString(value)
    except DecodeError as error:
        raise UnknownLayoutError(f"{name} cannot be read: {error}") from error
    if has_unknown_fields(message):
        raise UnknownLayoutError(f"{name} has fields that are not known")
    return message


def _position(stored: Any) -> Position:
    if not (stored.HasField("ledger") and stored.HasField("entry")):
        raise UnknownLayoutError("a position lacks its ledger or its entry")
    if stored.ledger < 0 or stored.entry < 0:
        raise UnknownLayoutError("a position is negative")
    return stored.ledger, stored.entry
