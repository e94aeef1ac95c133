"""One flow in one data directory: a lock that `kill -9` releases, and files for its user alone."""

import logging
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from fourtier.runtime.errors import StartupError

log = logging.getLogger(__name__)

#: The file that is locked; its content names the process that holds it.
_NAME = "lock"
#: Seconds that a start waits for the lock: one that looks holds it for a moment.
_PATIENCE, _POLL = 2.0, 0.005
#: Nobody else on the machine reads what the flow remembers.
PRIVATE_DIRECTORY, PRIVATE_FILE, PRIVATE_MASK = 0o700, 0o600, 0o077


@contextmanager
def locked_data(directory: Path) -> Generator[None]:
    """Create the directory for its user alone, and hold its lock until the context ends.

    Raises:
        StartupError: it cannot be created or written, or another process holds the lock.
    """
    lock = _lock(directory)
    try:
        _make_private(directory)
        lock.acquire(timeout=_PATIENCE, poll_interval=_POLL)
        (directory / _NAME).write_text(str(os.getpid()), "utf-8")
    except Timeout:
        raise StartupError(
            f"the data directory {directory.absolute()} is in use by process "
            f"{_holder(directory)}: stop that flow, or name another directory in FOURTIER_DATA"
        ) from None
    except OSError as error:
        lock.release()
        raise StartupError(
            f"the data directory {directory.absolute()} cannot be used: {error.strerror}; "
            f"name another one in FOURTIER_DATA"
        ) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(directory: Path) -> bool:
    """Whether a flow runs in the directory."""
    try:
        return not _can_share(directory / _NAME)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # another user's, who may well run a flow
        return True


def _can_share(file: Path) -> bool:
    """Whether nobody holds the lock. It shares it for a moment, so that looks do not meet.

    Raises:
        OSError: the file cannot be opened.
    """
    if sys.platform == "win32":  # which has no shared locks
        file.stat()
        try:
            with _lock(file.parent).acquire(blocking=False):
                return True
        except Timeout:
            return False
    import fcntl  # noqa: PLC0415 - not on Windows

    with file.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _make_private(directory: Path) -> None:
    """Create the directory; one that is there is closed to others too, if it is ours to close.

    Raises:
        OSError: it cannot be created.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIRECTORY)
    mode = directory.stat().st_mode
    # One with the sticky bit is shared on purpose, such as /tmp.
    if mode & PRIVATE_MASK and not mode & stat.S_ISVTX:
        try:
            directory.chmod(PRIVATE_DIRECTORY)
        except PermissionError:  # a volume of somebody else that is mounted for us
            log.warning("Other users of this machine may read %s: chmod 700 it.", directory)


def _lock(directory: Path) -> FileLock:
    # Without `flock` there is no lock that `kill -9` releases: better an error than another kind.
    return FileLock(directory / _NAME, mode=PRIVATE_FILE, fallback_to_soft=False)


def _holder(directory: Path) -> str:
    try:
        return (directory / _NAME).read_text("utf-8") or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"
