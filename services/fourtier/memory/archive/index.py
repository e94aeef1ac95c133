"""The index of the archive in the vectors, which can be made from the graph at any time."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fourtier.engines.completeness import IndexCompleteness
from fourtier.memory.archive.entries import Entry, Source
from fourtier.memory.archive.meanings import Meanings, mean
from fourtier.memory.archive.passages import (
    CONTEXT,
    MEANING,
    WINDOW,
    WORDS,
    Windows,
    near,
    passages,
)
from fourtier.memory.archive.store import ArchiveStore
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.service.stores.schemas import Collection, Fields, SparseField
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

#: The command that makes the indexes from the graph.
REBUILD = "fourtier archive reindex"
COLLECTION = Collection(
    "archive",
    Fields(
        keywords=("entry", "source", "speaker"),
        dates=("at",),
        dense=(MEANING, CONTEXT),
        sparse=(SparseField(WORDS), SparseField(WINDOW, average_length=80)),
    ),
    rebuild=REBUILD,
)


class ArchiveIndex:
    """Writes the passages of entries; see `search` for how they are found."""

    def __init__(self, store: ArchiveStore, vectors: VectorStore, embed: Embed) -> None:
        self._store = store
        self._vectors = vectors
        self._meanings = Meanings(embed)
        self.completeness = IndexCompleteness("the index of the archive", REBUILD, self._numbers)

    async def bring_in_step(
        self, entries: Sequence[Entry], before: Mapping[str, Entry] | None = None
    ) -> int:
        """Write the passages that entries lack, or have of another text; of how many entries.

        The windows of their neighbours are written first. So when it fails in between, whoever
        repeats it finds passages that are missing, and does all of it again.

        Args:
            entries: of any scopes, as the graph has them.
            before: by id, those whose text was another, as they were.
        """
        stale = await self._stale(entries)
        await self._bring_in(stale, before or {})
        return len(stale)

    async def write_again(self, entries: Sequence[Entry]) -> None:
        """Write the passages of entries, whatever is there: for another embedding model."""
        await self._bring_in(entries, {})

    async def _bring_in(self, stale: Sequence[Entry], before: Mapping[str, Entry]) -> None:
        old = [before[entry.id] for entry in stale if entry.id in before]
        by_source: defaultdict[Source, list[Entry]] = defaultdict(list)
        for entry in stale:
            by_source[entry.source].append(entry)
        for source, some in by_source.items():
            now = {passage.id for entry in some for passage in passages(entry)}
            left = [
                each.id
                for entry in old
                if entry.source == source
                for each in passages(entry)
                if each.id not in now
            ]
            await self._vectors.delete(source.scope, left)
            await self._write(source, some)

    async def _stale(self, entries: Iterable[Entry]) -> list[Entry]:
        by_scope: defaultdict[Scope, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_scope[entry.source.scope].append(entry)
        stale: list[Entry] = []
        for scope, some in by_scope.items():
            wanted = {each.id: each for entry in some for each in passages(entry)}
            hits = await self._vectors.get(scope, list(wanted))
            there = {hit.id for hit in hits if dict(hit.payload) == dict(wanted[hit.id].payload)}
            missing = {passage.entry.id for name, passage in wanted.items() if name not in there}
            stale += [entry for entry in some if entry.id in missing]
        return stale

    async def _write(self, source: Source, entries: Sequence[Entry]) -> None:
        changed = {entry.id for entry in entries}
        around = await self._around(source, entries)
        parts = [passage for entry in entries for passage in passages(entry)]
        windows = Windows.of(around)
        await self._amend(source.scope, around, changed, windows)
        vectors = await self._meanings.of(
            near_by for each in parts for near_by in windows.around(each)
        )
        points = [
            each.point(vectors[each.id], mean(vectors, windows.around(each)), windows.text(each))
            for each in parts
        ]
        await self._vectors.upsert(source.scope, points)

    async def _amend(
        self, scope: Scope, around: Sequence[Entry], changed: set[str], windows: Windows
    ) -> None:
        """Write the windows of those beside entries that come or leave, as they are then."""
        beside = [entry for entry in near(around, changed) if entry.id not in changed]
        parts = [passage for entry in beside for passage in passages(entry)]
        vectors = await self._meanings.of(
            near_by for each in parts for near_by in windows.around(each)
        )
        await self._vectors.set_fields(
            scope,
            [
                each.amended(mean(vectors, windows.around(each)), windows.text(each))
                for each in parts
            ],
        )

    async def _around(self, source: Source, entries: Iterable[Entry]) -> list[Entry]:
        """The entries of their pages and of those beside them, in their order."""
        pages = {entry.page + step for entry in entries for step in (-1, 0, 1)}
        names = [source.page_id(number) for number in pages if number > 0]
        found = await self._store.on_pages(source.scope, names)
        return sorted(found, key=lambda entry: entry.position)

    async def delete(self, scope: Scope, entries: Sequence[Entry]) -> None:
        """Delete the passages of entries, and their words in the windows of their neighbours."""
        by_source: defaultdict[Source, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_source[entry.source].append(entry)
        for source, some in by_source.items():
            leaving = {entry.id for entry in some}
            around = await self._around(source, some)
            windows = Windows.of(entry for entry in around if entry.id not in leaving)
            await self._amend(scope, around, leaving, windows)
        gone = [passage.id for entry in entries for passage in passages(entry)]
        await self._vectors.delete(scope, gone)

    async def delete_scope(self, scope: Scope) -> None:
        """Delete all passages of a scope."""
        await self._vectors.delete_scope(scope)

    async def count(self) -> int:
        """How many passages there are, of all scopes."""
        return await self._vectors.count()

    async def _numbers(self) -> tuple[int, int]:
        """Entries, and passages; an entry has one or more."""
        return await self._store.number(), await self.count()
