"""When the broker is ended and started again, with its files compacted in between.

`pulsar-lite` removes nothing from the disk while it runs, and holds some 18 kB of memory for each
topic that it ever saw, also for the inbox of a caller that is gone. Clients connect again by
themselves, as after a crash; nothing that is persistent is lost. What is not persistent can be, so
that it is best done while nothing moves.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fourtier.runtime.bus.embedded.storage.entry_logs import database_in

#: Seconds without traffic until the broker is at rest. A handler that works sends a heartbeat more
#: often, if anybody waits for it.
REST = 4.0
#: Bytes on disk and in memory that are worth a restart at rest.
_GROWN = 4_000_000
_GROWN_MEMORY = 32_000_000
#: Bytes on disk and in memory after which it is done in the middle of the traffic.
_FULL = 24_000_000
_FULL_MEMORY = 256_000_000
#: Seconds after which whatever was acknowledged is removed at the next rest.
_OLD = 3_600.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a broker uses, in bytes."""

    disk: int
    memory: int


def usage(directory: Path, process: int) -> Usage:
    """What the broker with this process id uses now."""
    return Usage(disk=_disk(database_in(directory)), memory=_memory(process))


def is_due(begun: Usage, now: Usage, *, age: float, idle: float) -> bool:
    """Whether to restart a broker.

    Args:
        begun: what it used when it had just started.
        now: what it uses.
        age: seconds since its start.
        idle: seconds without traffic.
    """
    disk, memory = now.disk - begun.disk, now.memory - begun.memory
    if idle >= REST:
        return disk >= _GROWN or memory >= _GROWN_MEMORY or (disk > 0 and age >= _OLD)
    # Where much is waiting that cannot be removed, less often.
    return disk >= max(_FULL, begun.disk) or memory >= _FULL_MEMORY


def _disk(database: Path) -> int:
    """Bytes of messages and of the index; not of the index's own log of events."""
    return sum(_sizes(database, "*.log", "*.sst", "entrylog/*.log"))


def _sizes(database: Path, *patterns: str) -> Iterator[int]:
    for pattern in patterns:
        for path in database.glob(pattern):
            with suppress(FileNotFoundError):  # the broker may just have removed it
                yield path.stat().st_size


def _memory(process: int) -> int:
    """Resident memory; 0 where the system does not say."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0
