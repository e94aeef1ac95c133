"""The file of a LadybugDB graph and its write-ahead log."""

from pathlib import Path

import ladybug

#: The database takes what it needs up to this; its default would be most of the machine.
_BUFFER_BYTES = 256 * 1024 * 1024


def open_database(file: Path, *, all_of_log: bool = True) -> ladybug.Database:
    """Open a database file that makes no checkpoint by itself.

    The engine's own checkpoint runs beside readers: it was seen to change rows that were stored
    before, and to end the process.

    Args:
        file: is created where it is missing.
        all_of_log: whether a transaction that is cut off at the end of the log is an error.

    Raises:
        RuntimeError: the file cannot be opened.
    """
    return ladybug.Database(
        str(file),
        buffer_pool_size=_BUFFER_BYTES,
        auto_checkpoint=False,
        throw_on_wal_replay_failure=all_of_log,
    )


def log_of(file: Path) -> Path:
    """The write-ahead log of a database file."""
    return file.with_name(f"{file.name}.wal")


def log_bytes(file: Path) -> int:
    """The length of the log; 0 where there is none."""
    try:
        return log_of(file).stat().st_size
    except FileNotFoundError:
        return 0
