"""Room on the disk of the data directory: checked at the start and watched while the flow runs.

Qdrant Edge writes to files that are mapped into memory. Where the disk has no room for a page of
them, the system ends the process by SIGBUS, without a word in the log. So nothing is written once
less than a reserve is left: writes fail as unavailable and wait on the bus until there is room.
"""

import logging
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.periodic import periodic

log = logging.getLogger(__name__)

_MB = 1_000_000
#: A start needs so many times the reserve: a flow that cannot write is of little use.
_START_FACTOR = 2
_WATCH_SECONDS = 5.0


def _free_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free


@dataclass(frozen=True, slots=True)
class DiskReserve:
    """Room that is never written to by choice.

    Attributes:
        directory: the data directory, or one below it.
        megabytes: the reserve, `engines.disk-reserve-mb` of the flow; 0 switches it off.
        free_bytes: asks the system; another one in tests.
    """

    directory: Path
    megabytes: int
    free_bytes: Callable[[Path], int] = field(default=_free_bytes, repr=False)

    def problem(self) -> str:
        """Why nothing can be written now; empty while there is room."""
        return self._shortage(self.megabytes)

    def check_start(self) -> None:
        """See that there is room to start.

        Raises:
            StartupError: there is not.
        """
        if problem := self._shortage(_START_FACTOR * self.megabytes):
            raise StartupError(f"{problem}, or name another directory in FOURTIER_DATA")

    def check_write(self) -> None:
        """See that there is room to write.

        Raises:
            UnavailableError: there is not; the write is to be tried again later.
        """
        if problem := self.problem():
            raise UnavailableError(problem)

    def _shortage(self, needed: int) -> str:
        if not needed:
            return ""
        free = self.free_bytes(self.directory) // _MB
        if free >= needed:
            return ""
        return (
            f"the disk of {self.directory.absolute()} has only {free} MB free, and {needed} MB are "
            f"needed (engines.disk-reserve-mb is {self.megabytes}): make room on it"
        )


@asynccontextmanager
async def watched_disk(
    reserve: DiskReserve, seconds: float = _WATCH_SECONDS
) -> AsyncGenerator[None]:
    """Log when the disk runs out of room, and when there is room again, until the context ends."""
    reported = False

    async def look() -> None:
        nonlocal reported
        problem = reserve.problem()
        if problem and not reported:
            log.error(
                "Nothing is stored any more: %s. Messages wait on the bus meanwhile.", problem
            )
        elif reported and not problem:
            log.info("There is room on the disk again; messages that waited are stored now.")
        reported = bool(problem)

    async with periodic("The look at the disk", seconds, look):
        yield
