"""Where the files of tests wait for no disk; alone here, for who starts only the engines."""

import os
import re
import shutil
from pathlib import Path

#: A file system in memory, for a flow writes to disk, and waits for it, some two hundred times.
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes directories of its own in it
#: So much of it must be free: all that tests leave behind, and a few flows at once, is less.
_NEEDED_BYTES = 6 * 1024**3


def in_memory() -> Path | None:
    """A directory whose files wait for no disk, if this machine has one, and room in it."""
    if not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK):
        return None
    available = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"))
    room = min(shutil.disk_usage(_MEMORY).free, int(available[1]) * 1024 if available else 0)
    return _MEMORY if room >= _NEEDED_BYTES else None
