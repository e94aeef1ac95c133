"""Whether an index has what its graph has: a lost one must not answer that there is nothing."""

import logging
from collections.abc import Awaitable, Callable

from fourtier.runtime.errors import UnavailableError

log = logging.getLogger(__name__)

#: The share of the records that may be missing: after a crash the last ones are, until the messages
#: that they come from are delivered again.
_TOLERATED = 0.1


class IndexCompleteness:
    """Compares the numbers of records and of points when a service starts, until they agree.

    Args:
        index: for messages, such as "the index of facts".
        rebuild: the command that makes it from the graph.
        count: gives how many records the graph has, and how many points the index.
    """

    def __init__(
        self, index: str, rebuild: str, count: Callable[[], Awaitable[tuple[int, int]]]
    ) -> None:
        self._index = index
        self._rebuild = rebuild
        self._count = count
        self._missing = ""

    async def check(self) -> None:
        """Compare; what is missing is logged, and searches fail from now on. Call at the start."""
        records, points = await self._count()
        self._missing = ""
        if points < records:
            missing = (
                f"{self._index} has {points} of {records} entries. "
                f"`{self._rebuild}` makes it again from the graph"
            )
            log.error("%s.", missing[0].upper() + missing[1:])
            if _is_lost(records, points):
                self._missing = missing

    async def require(self) -> None:
        """See that a search finds what there is.

        Raises:
            UnavailableError: a good part of the index is missing, and still is.
        """
        if not self._missing:
            return
        if _is_lost(*await self._count()):
            raise UnavailableError(self._missing)
        self._missing = ""
        log.warning("%s is complete again.", self._index[0].upper() + self._index[1:])


def _is_lost(records: int, points: int) -> bool:
    """Whether more is missing than what a crash may leave."""
    return records - points > _TOLERATED * records
