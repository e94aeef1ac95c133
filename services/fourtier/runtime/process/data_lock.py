"""One flow in one data directory: a lock that `kill -9` releases."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from fourtier.runtime.errors import StartupError

_NAME = "lock"


@contextmanager
def locked_data(directory: Path) -> Generator[None]:
    """Create the directory and hold its lock until the context ends.

    Raises:
        StartupError: it cannot be created or written, or another process holds the lock.
    """
    descriptor = -1
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(directory / _NAME, os.O_RDWR | os.O_CREAT, 0o600)
            if not _lock(descriptor):
                holder = os.pread(descriptor, 20, 0).decode(errors="replace") or "unknown"
                raise StartupError(
                    f"the data directory {directory.absolute()} is in use by process {holder}: "
                    f"stop that flow, or name another directory in FOURTIER_DATA"
                )
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        except OSError as error:
            raise StartupError(
                f"the data directory {directory.absolute()} cannot be used: {error.strerror}; "
                f"name another one in FOURTIER_DATA"
            ) from error
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def is_locked(directory: Path) -> bool:
    """Whether a flow runs in the directory."""
    try:
        descriptor = os.open(directory / _NAME, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # it is there and not ours to look at
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
