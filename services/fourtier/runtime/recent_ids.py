"""The ids that came last: enough to know a copy, and never more than so many in memory."""

from collections import OrderedDict

#: Copies of a message come within a minute; no process handles so many in that time.
MAX_IDS = 10_000


class RecentIds:
    """A set that gives up the oldest when it is full; threads may share it.

    Args:
        max_ids: how many it has at most; `MAX_IDS` if nothing is said.
    """

    def __init__(self, max_ids: int | None = None) -> None:
        self._max_ids = MAX_IDS if max_ids is None else max_ids
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, item: str) -> bool:
        return item in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, item: str) -> None:
        """Remember one."""
        self._ids[item] = None
        if len(self._ids) > self._max_ids:
            self._ids.popitem(last=False)

    def discard(self, item: str) -> None:
        """Forget one, if it is here."""
        self._ids.pop(item, None)
