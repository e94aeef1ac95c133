"""Which ids there are, where one process alone writes to a graph: others need not be looked for.

Tombstones and opt-outs are looked for with every statement that is stored, before and behind it,
and hardly ever found.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable

#: Reads the ids of all nodes of a label.
ReadIds = Callable[[str], Awaitable[Iterable[str]]]


class KnownIds:
    """The ids of the nodes of some labels, or more; never less.

    Whoever creates nodes of such a label adds their ids before. Those of nodes that are deleted
    stay. An id takes 60 bytes: its hash is kept, so that now and then one is taken for another.

    Args:
        read: called once for each label that is asked for; None where other processes write to the
            graph too, so that each id may be there.
    """

    def __init__(self, read: ReadIds | None = None) -> None:
        self._read = read
        self._hashes: dict[str, set[int]] = {}
        self._complete: set[str] = set()
        self._reading = asyncio.Lock()

    def add(self, label: str, ids: Iterable[str]) -> None:
        """Note ids before nodes with them are written."""
        if self._read is not None:
            self._hashes.setdefault(label, set()).update(map(hash, ids))

    async def among(self, label: str, ids: Collection[str]) -> list[str]:
        """Those of some ids that a node of the label may have."""
        if self._read is None:
            return list(ids)
        async with self._reading:
            if label not in self._complete:
                self.add(label, await self._read(label))
                self._complete.add(label)
        hashes = self._hashes[label]
        return [each for each in ids if hash(each) in hashes]
