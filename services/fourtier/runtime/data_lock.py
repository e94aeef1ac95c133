"""One flow in one data directory: a lock that `kill -9` releases."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from fourtier.runtime.errors import StartupError


@contextmanager
def locked_data(directory: Path) -> Generator[None]:
    """Create the directory and hold its lock until the context ends.

    Raises:
        StartupError: it cannot be created or written, or another process holds the lock.
    """
    file = directory / "lock"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StartupError(
            f"the data directory {directory.absolute()} cannot be used: {error.strerror}; "
            f"name another one in FOURTIER_DATA"
        ) from error
    try:
        _lock(descriptor, directory)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace") or "unknown"
        raise StartupError(
            f"the data directory {directory.absolute()} is in use by process {holder}: "
            f"stop that flow, or name another directory in FOURTIER_DATA"
        ) from error
