"""What an embedded store's files were when it was closed, so that loss and damage are noticed.

Beside each store lies a small file, such as `manifest-graph.json`. It says that there was a store,
and after an orderly stop it has a checksum of each of its files. LadybugDB and Qdrant Edge have
none of their own: they start without a missing file, and answer from damaged pages.
"""

import errno
import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fourtier.runtime.errors import StartupError, UnavailableError

log = logging.getLogger(__name__)

_BLOCK = 65_536
_ZEROS = bytes(_BLOCK)
_NAMED = 3
_BACKUP = "restore it from a backup (docs/operating.md)"


class _Record(BaseModel):
    """The content of a manifest.

    Attributes:
        written_at: when the store was opened or closed last.
        checksums: by file, relative to the store's own directory; None while the store is open,
            and after a crash.
        erasure_due: bytes of what was deleted may still be in the files.
    """

    model_config = ConfigDict(frozen=True)

    written_at: datetime
    checksums: dict[str, int] | None = None
    erasure_due: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """Of one store.

    Attributes:
        what: the store for error messages, such as "the graph".
        path: its file or directory.
        rebuild: the command that makes it again from another store; None where it holds what is
            nowhere else.
    """

    what: str
    path: Path
    rebuild: str | None = None

    @property
    def file(self) -> Path:
        """The manifest."""
        return self.path.with_name(f"manifest-{self.path.stem}.json")

    def check(self) -> bool:
        """Compare the files with the manifest; call before the store is opened.

        Returns whether they are known to be sound. After a crash, and before the first start, that
        is not known.

        Raises:
            StartupError: the store has vanished, or is not as it was when it was closed.
        """
        record = self._read()
        if record is None:
            return False
        if not has_content(self.path):
            self._vanished(record)
            return False
        if record.checksums is None:
            return False
        found = _checksums(self.path)
        if changed := sorted(
            name for name, number in record.checksums.items() if found.get(name) != number
        ):
            raise StartupError(
                f"{self.what} {self.path} is damaged: since it was closed at "
                f"{record.written_at:%Y-%m-%d %H:%M:%S} UTC there was a change of "
                f"{_some(changed)}. {self.remedy()} If you changed it on purpose, as by restoring "
                f"a part of a backup, delete {self.file} and start again"
            )
        return True

    def _vanished(self, record: _Record) -> None:
        gone = (
            f"{self.what} {self.path} is missing or empty, although it was in use at "
            f"{record.written_at:%Y-%m-%d %H:%M:%S} UTC"
        )
        if self.rebuild is not None:
            log.error("%s. It begins empty; `%s` makes it again.", gone, self.rebuild)
            return
        raise StartupError(f"{gone}: {_BACKUP}, or delete {self.file} to begin with nothing stored")

    def remedy(self) -> str:
        """What an operator does when the store is damaged."""
        if self.rebuild is None:
            return f"To go on, {_BACKUP}."
        return f"To go on, move {self.path} away, start, and run `{self.rebuild}`."

    def damaged(self, reason: object) -> UnavailableError:
        """The error of a store that turns out to be damaged while it is in use."""
        return UnavailableError(f"{self.what} {self.path} is damaged ({reason}). {self.remedy()}")

    def opening(self) -> None:
        """Note that a store that is there comes into use: engines change files as they open."""
        if self.file.exists():
            self.opened()

    def opened(self) -> None:
        """Note that the store is in use; call when it is open."""
        try:
            self._write(_Record(written_at=datetime.now(UTC), erasure_due=self.erasure_due()))
        except OSError as error:
            # An older manifest would take the store for damaged at the next start.
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
            log.warning("The manifest %s cannot be written: %s", self.file, error.strerror)

    def closed(self) -> None:
        """Note what the files are now; call when the store is closed in order."""
        record = _Record(
            written_at=datetime.now(UTC),
            checksums=_checksums(self.path),
            erasure_due=self.erasure_due(),
        )
        try:
            self._write(record)
        except OSError as error:  # the store counts as in use, as after a crash
            log.warning("The manifest %s cannot be written: %s", self.file, error.strerror)

    def erasure_due(self) -> bool:
        """Whether bytes of what was deleted may still be in the files."""
        record = self._read()
        return record is not None and record.erasure_due

    def mark_erasure(self, *, due: bool) -> None:
        """Note, while the store is in use, whether bytes of what was deleted may be in it.

        Raises:
            OSError: it cannot be noted; nothing must be deleted then.
        """
        self._write(_Record(written_at=datetime.now(UTC), erasure_due=due))

    def _read(self) -> _Record | None:
        try:
            return _Record.model_validate_json(self.file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            log.warning("The manifest %s cannot be read and is written anew: %s", self.file, error)
            return None

    def _write(self, record: _Record) -> None:
        draft = self.file.with_suffix(".new")
        draft.write_text(record.model_dump_json(), encoding="utf-8")
        draft.replace(self.file)  # a reader finds the whole file or none


def has_content(path: Path) -> bool:
    """Whether there is anything of a store."""
    if path.is_dir():
        return any(path.iterdir())
    return path.is_file() and path.stat().st_size > 0


def _checksums(path: Path) -> dict[str, int]:
    """CRC-32 by file; holes of a sparse file count as the zeros that they read as."""
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    root = path if path.is_dir() else path.parent
    return {str(file.relative_to(root)): _crc(file) for file in _regular(files)}


def _regular(files: Iterable[Path]) -> list[Path]:
    return [file for file in files if file.is_file() and ".torn-" not in file.name]


def _crc(file: Path) -> int:
    """Of the blocks that are not all zeros, each with its number: most of a shard is empty."""
    crc = file.stat().st_size & 0xFFFFFFFF
    with file.open("rb", buffering=0) as opened:
        for number, block in _blocks(opened):
            if block != _ZEROS[: len(block)]:
                crc = zlib.crc32(block, zlib.crc32(number.to_bytes(8, "little"), crc))
    return crc


def _blocks(file: FileIO) -> Iterator[tuple[int, bytes]]:
    """The blocks in which something is written, with their numbers; a new shard is 130 MB of hole.

    On a machine that cannot tell the holes they are read as the zeros that they are.
    """
    number = _next_with_data(file, 0)
    while number is not None:
        file.seek(number * _BLOCK)
        if not (block := file.read(_BLOCK)):
            return
        yield number, block
        number = _next_with_data(file, number + 1)


def _next_with_data(file: FileIO, number: int) -> int | None:
    """The first block from this one on that has data; None when the rest is a hole."""
    if not hasattr(os, "SEEK_DATA"):
        return number
    try:
        return file.seek(number * _BLOCK, os.SEEK_DATA) // _BLOCK
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more files"
