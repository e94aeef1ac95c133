"""Storing documents, part by part, so that the archive has the last version of each."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from fourtier.memory.archive.announcing import Announcing
from fourtier.memory.archive.entries import Entry, Source, of_part
from fourtier.memory.archive.forgetting import ArchiveWriter
from fourtier.memory.archive.retention import RetainedArchive
from fourtier.memory.archive.store import ArchiveStore
from fourtier.runtime.errors import PermanentError
from fourtier.schema.archive import StoreDocumentRequest, StoreDocumentResponse

#: Blocks that are deleted at a time.
_DELETED = 200


class Documents:
    """Stores parts of documents, and deletes what a new version has not got any more."""

    def __init__(
        self,
        store: ArchiveStore,
        writer: ArchiveWriter,
        retained: RetainedArchive,
        announcing: Announcing,
    ) -> None:
        self._store = store
        self._writer = writer
        self._retained = retained
        self._announcing = announcing

    async def add(self, part: StoreDocumentRequest, sent_at: datetime) -> StoreDocumentResponse:
        """Store a part; the last one also ends the document. Repeating it changes nothing.

        Raises:
            PermanentError: the part goes beyond the document.
            QuotaExceededError: the scope is full, and nothing is evicted.
        """
        end = part.first + len(part.blocks)
        if end > part.total:
            raise PermanentError(
                f"blocks {part.first} to {end - 1} are not in a document of {part.total}"
            )
        entries = of_part(part, sent_at)
        before = await self._of(entries)
        await self._retained.append(entries, datetime.now(UTC))
        after = await self._of(entries)
        deleted = await self._end(entries[0], part.total) if end == part.total else 0
        return _response(entries, before, after, deleted)

    async def _of(self, entries: Sequence[Entry]) -> Mapping[str, Entry]:
        return await self._store.by_ids({entry.id: entry.source.scope for entry in entries})

    async def _end(self, block: Entry, total: int) -> int:
        """Delete the blocks from `total` on, unless a later version has come; how many."""
        source = block.source
        state = (await self._store.states([source]))[source]
        if state.supersedes(block):
            return 0
        deleted = 0
        for start in range(total, state.entries, _DELETED):
            numbers = range(start, min(start + _DELETED, state.entries))
            deleted += await self._writer.delete(source.scope, _ids(source, numbers))
        closed = await self._store.complete(source, total, block.sent_at)
        await self._announcing.announce(closed)
        return deleted


def _ids(source: Source, numbers: Collection[int]) -> list[str]:
    return [source.block_id(number) for number in numbers]


def _response(
    entries: Sequence[Entry], before: Mapping[str, Entry], after: Mapping[str, Entry], deleted: int
) -> StoreDocumentResponse:
    there = [each for each in entries if each.id in after and after[each.id].text == each.text]
    unchanged = sum(each.id in before and before[each.id].text == each.text for each in there)
    replaced = sum(each.id in before for each in there) - unchanged
    return StoreDocumentResponse(
        stored=len(there) - unchanged,
        replaced=replaced,
        unchanged=unchanged,
        not_stored=len(entries) - len(there),
        deleted=deleted,
    )
