"""What processes use of the machine, as Linux counts it."""

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """Of one process.

    Attributes:
        cpu: seconds of processor time since it began.
        resident: memory in MiB.
    """

    cpu: float
    resident: int


def usage_of(pid: int) -> Usage:
    """What a process has used by itself."""
    # Behind the name, which may hold anything, come the fields from the third one on.
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return Usage((user + system) / _TICKS, resident_mib(pid))


def resident_mib(pid: int) -> int:
    """The memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) // 1024


def descendants_of(pid: int) -> dict[int, str]:
    """The processes that one has started, and those that they have started, with their names."""
    found: dict[int, str] = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text("utf-8").split()):
            name = Path(f"/proc/{child}/comm").read_text("utf-8").strip()
            found |= {child: name} | descendants_of(child)
    return found


def machine_busy() -> float:
    """Seconds that all processors together were busy since the machine began."""
    fields = Path("/proc/stat").read_text("utf-8").split("\n", 1)[0].split()[1:9]
    ticks = list(map(int, fields))
    idle = ticks[3] + ticks[4]  # one of the two waits for a disk
    return (sum(ticks) - idle) / _TICKS


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))
