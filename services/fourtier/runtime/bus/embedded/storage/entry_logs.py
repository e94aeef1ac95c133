"""The entry logs of `pulsar-lite`: files `<number>.log` that hold the messages themselves."""

import io
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fourtier.runtime.bus.embedded.storage.records import (
    Location,
    Position,
    Published,
    UnknownLayoutError,
    is_whole,
)

#: Messages and where they stand.
Located = Iterable[tuple[Position, Location]]


def database_in(directory: Path) -> Path:
    """Where a broker that is told to keep its messages in DIRECTORY/messages has them."""
    return directory / "messages.rocksdb"


class EntryLogs:
    """The directory of the entry logs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def size(self) -> int:
        """Bytes of all entry logs."""
        return sum(path.stat().st_size for path in self._directory.glob("*.log"))

    def unreadable(self, messages: Located) -> Iterator[Position]:
        """Which messages cannot be read, such as those that a loss of power has cut off."""
        for file, group in _by_file(messages).items():
            path = self._path(file)
            with path.open("rb") if path.exists() else io.BytesIO() as log:
                for position, location in group:
                    log.seek(location.offset)
                    if not is_whole(log.read(location.length), position, location):
                        yield position

    def published(self, messages: Located) -> Iterator[tuple[Position, Published]]:
        """What messages say of themselves; they must be whole."""
        for file, group in _by_file(messages).items():
            with self._path(file).open("rb") as log:
                for position, location in group:
                    log.seek(location.offset)
                    yield position, Published.parse(log.read(location.length))

    def copy(self, messages: Located) -> Mapping[Position, bytes]:
        """Write messages to a new entry log that is on disk afterwards; returns where they are.

        Raises:
            UnknownLayoutError: a message is cut off.
        """
        number = max(self._numbers(), default=-1) + 1
        moved: dict[Position, bytes] = {}
        with self._path(number).open("xb") as new:
            for file, group in _by_file(messages).items():
                with self._path(file).open("rb") as old:
                    for position, location in group:
                        old.seek(location.offset)
                        record = old.read(location.length)
                        if len(record) != location.length:
                            raise UnknownLayoutError(f"message {position} of {file}.log is cut off")
                        moved[position] = location.moved(number, new.tell())
                        new.write(record)
            new.flush()
            os.fsync(new.fileno())
        self._sync()
        return moved

    def remove_others(self, needed: set[int]) -> None:
        """Remove all entry logs but those that are needed."""
        for number in self._numbers():
            if number not in needed:
                self._path(number).unlink()
        self._sync()

    def _path(self, number: int) -> Path:
        return self._directory / f"{number}.log"

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in self._directory.glob("*.log") if path.stem.isdigit()]

    def _sync(self) -> None:
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _by_file(messages: Located) -> Mapping[int, list[tuple[Position, Location]]]:
    """By entry log, in the order in which they stand there."""
    groups: defaultdict[int, list[tuple[Position, Location]]] = defaultdict(list)
    for position, location in sorted(messages, key=lambda item: (item[1].file, item[1].offset)):
        groups[location.file].append((position, location))
    return groups
