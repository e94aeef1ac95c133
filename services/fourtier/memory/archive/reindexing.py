"""Making the indexes from the graph, part by part: those of the entries, then that of the memos."""

from fourtier.memory.archive.index import ArchiveIndex
from fourtier.memory.archive.memo_index import MemoIndex
from fourtier.memory.archive.store import ArchiveStore
from fourtier.schema.archive import ReindexArchiveResponse

#: Entries or memos of one part.
_PART = 100
#: Begins the cursors behind the entries; no id of an entry begins so.
_MEMOS = "memos/"


class Reindexing:
    """Writes whatever is there, with the embedding model of now."""

    def __init__(self, store: ArchiveStore, index: ArchiveIndex, memo_index: MemoIndex) -> None:
        self._store = store
        self._index = index
        self._memo_index = memo_index

    async def part(self, cursor: str) -> ReindexArchiveResponse:
        """Write the part that begins behind a cursor; says where the next one begins."""
        if cursor.startswith(_MEMOS):
            following, indexed = await self._memos(cursor.removeprefix(_MEMOS)), 0
        else:
            following, indexed = await self._entries(cursor)
        return ReindexArchiveResponse(
            cursor=following, indexed=indexed, entries=await self._store.number()
        )

    async def _entries(self, after: str) -> tuple[str, int]:
        entries = await self._store.everything(after, _PART)
        await self._index.write_again(entries)
        return entries[-1].id if len(entries) == _PART else _MEMOS, len(entries)

    async def _memos(self, after: str) -> str:
        memos = await self._store.memos.everything(after, _PART)
        await self._memo_index.write(memos)
        return f"{_MEMOS}{memos[-1].id}" if len(memos) == _PART else ""
