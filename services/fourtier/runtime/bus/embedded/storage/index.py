"""The RocksDB index of `pulsar-lite`: all topics, and where each message stands."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from fourtier.runtime.bus.embedded.storage.records import (
    Cursor,
    Location,
    Position,
    Topic,
    UnknownLayoutError,
    parse_ledgers,
)

_TOPIC = b"/managed-ledgers/"
_ENTRY = b"entry|"
_NEXT_LEDGER = b"managed_ledger|next_ledger_id"
_NUMBER = struct.Struct("<Q")
_TOPIC_PARTS = 4
#: What RocksDB since 6.6 can read.
_BLOCK_FORMAT = 5


@dataclass(slots=True)
class Messages:
    """All topics and their messages: those that every subscription has acknowledged apart."""

    topics: list[Topic]
    waiting: dict[Position, Location] = field(default_factory=dict)
    acknowledged: dict[Position, Location] = field(default_factory=dict)


class Index:
    """The index, opened while the broker does not run. `close` it."""

    def __init__(self, database: Path) -> None:
        self._db = Rdict(str(database), options=_options(), access_type=AccessType.read_write())

    def close(self) -> None:
        """Write everything and let go of the files."""
        self._db.close()

    def read(self) -> Messages:
        """All topics and messages.

        Raises:
            UnknownLayoutError: the index is of another version of the broker.
        """
        messages = Messages(self._topics())
        owners = {ledger: topic for topic in messages.topics for ledger, _ in topic.ledgers}
        for key, value in self._items(_ENTRY):
            position, location = _position(key), Location.parse(value)
            owner = owners.get(position[0])
            done = owner is None or owner.is_acknowledged(position)
            (messages.acknowledged if done else messages.waiting)[position] = location
        return messages

    def locations(self) -> Iterator[Location]:
        """Where each message stands, as the index says now."""
        return (Location.parse(value) for _, value in self._items(_ENTRY))

    def next_ledger(self) -> int:
        """The next free id of a ledger.

        Raises:
            UnknownLayoutError: it is not there.
        """
        value = self._db.get(_NEXT_LEDGER)
        if not isinstance(value, bytes) or len(value) != _NUMBER.size:
            raise UnknownLayoutError("the next ledger's id is not known")
        return int(_NUMBER.unpack(value)[0])

    def write(self, change: "Change") -> None:
        """Make all of a change or nothing of it, and wait until the disk has it."""
        synced = WriteOptions()
        synced.sync = True
        self._db.write(change.batch, synced)

    def shrink(self) -> None:
        """Give back the room of what was deleted."""
        self._db.compact_range(None, None)

    def _topics(self) -> list[Topic]:
        topics: dict[bytes, Topic] = {}
        for key, value in self._items(_TOPIC):
            parts = key.removeprefix(_TOPIC).split(b"/")
            if len(parts) == _TOPIC_PARTS:
                topics[key] = Topic(key, parse_ledgers(value))
            elif len(parts) == _TOPIC_PARTS + 1 and (topic := topics.get(key.rpartition(b"/")[0])):
                topic.cursors.append(Cursor.parse(key, value))
            else:
                raise UnknownLayoutError(f"unknown key {unquote(key.decode(errors='replace'))}")
        return list(topics.values())

    def _items(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._db.items(from_key=prefix):
            if not isinstance(key, bytes) or not key.startswith(prefix):
                return
            yield key, value


class Change:
    """Several changes of the index that are made in one write."""

    def __init__(self) -> None:
        self.batch = WriteBatch(raw_mode=True)

    def remove(self, position: Position) -> None:
        """Forget where a message stands."""
        self.batch.delete(b"entry|%d|%d" % position)

    def move(self, position: Position, location: bytes) -> None:
        """Say where a message stands now."""
        self.batch.put(b"entry|%d|%d" % position, location)

    def put(self, key: bytes, value: bytes) -> None:
        """Write a topic's ledgers or a cursor."""
        self.batch.put(key, value)

    def set_next_ledger(self, number: int) -> None:
        """Say which id of a ledger is free."""
        self.batch.put(_NEXT_LEDGER, _NUMBER.pack(number))


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(False)
    options.set_compression_type(DBCompressionType.none())
    blocks = BlockBasedOptions()
    blocks.set_format_version(_BLOCK_FORMAT)
    options.set_block_based_table_factory(blocks)
    return options


def _position(key: bytes) -> Position:
    try:
        _, ledger, entry = key.split(b"|")
        return int(ledger), int(entry)
    except ValueError:
        raise UnknownLayoutError(f"unknown key {key!r}") from None
