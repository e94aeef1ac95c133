"""Entries and pages in the graph, which is the truth.

A source is filled by one writer at a time. The key of the topics (Key_Shared) sees to that, but for
the seconds in which a replica joins or leaves; then the version of the source does (optimistic
concurrency): who has not read the last one writes nothing, and starts again.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries
from fourtier.engines.timestamps import as_text
from fourtier.memory.archive.entries import Entry, Source
from fourtier.memory.archive.memo_store import DropMemos, MemoStore
from fourtier.memory.archive.paging import Paged, SourceState, place, place_among
from fourtier.memory.archive.writing import Writing
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.schema.message import Scope

#: Entries that are read at a time.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Appended:
    """Entries as they are stored.

    Attributes:
        entries: those that were given, each once, in their places, with the text that counts.
        before: by id, those that were there already, as they were.
        pages: ids of pages that were closed, or have lost their memos.
    """

    entries: Sequence[Entry]
    before: Mapping[str, Entry]
    pages: Sequence[str] = ()


class ArchiveStore:
    """Reads and writes what the graph has of the archive."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.archive")
        self._writing = Writing(self._queries)
        self.memos = MemoStore(graph, self.states)

    async def append(self, entries: Sequence[Entry], now: datetime, drop: DropMemos) -> Appended:
        """Put entries on the pages of their sources; the same again change nothing."""
        latest: dict[str, Entry] = {}
        for entry in sorted(entries, key=lambda each: each.sent_at):
            latest[entry.id] = entry
        in_order = [latest[each] for each in dict.fromkeys(entry.id for entry in entries)]
        return await retry_on_conflict(lambda: self._append(in_order, now, drop))

    async def _append(self, entries: Sequence[Entry], now: datetime, drop: DropMemos) -> Appended:
        """Write what is not there as it came.

        Raises:
            ConflictError: another replica has changed one of the sources.
        """
        states = await self.states({entry.source for entry in entries})
        current = [each for each in entries if not states[each.source].supersedes(each)]
        before = await self.by_ids({entry.id: entry.source.scope for entry in current})
        stored = {entry.id: _newest(entry, before.get(entry.id)) for entry in current}
        changed = [each for each in stored.values() if before.get(each.id, each) != each]
        paged = await self._placed(current, before, states)
        stored |= {entry.id: entry for each in paged for entry in each.entries}
        for moved in (entry for each in paged for entry in each.moved if entry.id in stored):
            stored[moved.id] = stored[moved.id].at(moved.page, moved.position)
        other = {each.page_id for each in changed} | _filled_anew(paged, states)
        stale = await self.memos.stale(other)
        await stale.drop(drop)
        after = {each.state.source: each.state for each in paged}
        changed_sources = (
            dict(stale.states) | {each.source: states[each.source] for each in changed} | after
        )
        if paged or changed:
            await self._graph.write(
                None,
                *self._writing.version_writes(changed_sources.values()),
                *self._writing.append(paged, changed, as_text(now)),
                *self.memos.removal(stale, other),
            )
        closed = {each.state.source.page_id(number) for each in paged for number in each.closed}
        pages = {*closed, *other, *(memo.page_id for memo in stale.memos)}
        return Appended([stored[entry.id] for entry in current], before, sorted(pages))

    async def _placed(
        self,
        entries: Sequence[Entry],
        before: Mapping[str, Entry],
        states: Mapping[Source, SourceState],
    ) -> list[Paged]:
        """New entries in their places; also the documents of which another version has come."""
        by_source: defaultdict[Source, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_source[entry.source].append(entry)
        paged: list[Paged] = []
        for source, some in by_source.items():
            new = [entry for entry in some if entry.id not in before]
            state = states[source].with_entries(some)
            if any(source.is_document and entry.position < state.entries for entry in new):
                paged.append(place_among(new, await self._all_of(state), state))
            elif new or state != states[source]:
                paged.append(place(new, state))
        return paged

    async def _all_of(self, state: SourceState) -> list[Entry]:
        """All entries of a source."""
        pages = [state.source.page_id(number) for number in range(1, state.page + 1)]
        return await self.on_pages(state.source.scope, pages)

    async def states(self, sources: Iterable[Source]) -> dict[Source, SourceState]:
        """How far sources are."""
        by_id = {source.id: source for source in sources}
        if not by_id:
            return {}
        rows = await self._graph.read(None, self._queries["sources"], ids=sorted(by_id))
        found = {by_id[str(row["id"])]: row for row in rows}
        return {source: SourceState.of(source, found.get(source)) for source in by_id.values()}

    async def close_page(self, source: Source) -> Sequence[str]:
        """Close the last page of a source; its id, if there is one, though it was closed before."""

        async def close() -> Sequence[str]:
            state = (await self.states([source]))[source]
            if not state.closed:
                await self._graph.write(None, *self._writing.close(replace(state, closed=True)))
            return [source.page_id(state.page)] if state.page else []

        return await retry_on_conflict(close)

    async def complete(self, source: Source, total: int, sent_at: str) -> Sequence[str]:
        """Note that a document has so many blocks, and close its page; the ids of its pages.

        Nothing changes where a later version has come meanwhile.
        """

        async def complete() -> Sequence[str]:
            state = (await self.states([source]))[source]
            if not state.version or sent_at < state.sent_at:
                return []
            names = {source.page_id(number): number for number in range(1, state.page + 1)}
            there = await self.pages(source.scope, list(names))
            last = max((int(row["number"]) for row in there), default=0)
            entries = min(state.entries, total)
            whole = replace(state, page=last, entries=entries, closed=True, sent_at=sent_at)
            if whole != state:
                await self._graph.write(None, *self._writing.close(whole))
            return [str(row["id"]) for row in there]

        return await retry_on_conflict(complete)

    async def by_ids(self, wanted: Mapping[str, Scope]) -> dict[str, Entry]:
        """Entries by their ids, each in its scope."""
        if not wanted:
            return {}
        scopes = {scope.key: scope for scope in wanted.values()}
        rows = await self._graph.read(
            None, self._queries["entries"], ids=list(wanted), scopes=sorted(scopes)
        )
        entries = [Entry.from_row(scopes[str(row["scope"])], row) for row in rows]
        return {each.id: each for each in entries if wanted[each.id] == each.source.scope}

    async def on_pages(self, scope: Scope, pages: Iterable[str]) -> list[Entry]:
        """The entries of pages, those of each source in their order."""
        ids = sorted(set(pages))
        if not ids:
            return []
        rows = await self._graph.read(scope, self._queries["entries_of"], pages=ids)
        return [Entry.from_row(scope, row) for row in rows]

    async def pages(self, scope: Scope, ids: Sequence[str]) -> list[Row]:
        """Pages by their ids."""
        return [*await self._graph.read(scope, self._queries["pages"], ids=ids)] if ids else []

    async def documents(self, scope: Scope, limit: int, offset: int) -> tuple[list[str], int]:
        """The names of documents, and how many there are in all."""
        rows = await self._graph.read(scope, self._queries["documents"], limit=limit, offset=offset)
        counted = await self._graph.read(scope, self._queries["count_documents"])
        return [str(row["name"]) for row in rows], int(counted[0]["number"])

    async def list_pages(
        self, scope: Scope, source: str, limit: int, offset: int
    ) -> tuple[list[Row], int]:
        """Pages, those that were last added to first, and how many there are in all.

        With a source only those of it.
        """
        rows = await self._graph.read(
            scope, self._queries["list_pages"], source=source, limit=limit, offset=offset
        )
        counted = await self._graph.read(scope, self._queries["count_pages"], source=source)
        return [*rows], int(counted[0]["number"])

    async def said(self, scope: Scope, until: str) -> AsyncIterator[Entry]:
        """The entries of a scope that were said until a time, read some at a time."""
        after = ""
        while rows := await self._graph.read(
            scope, self._queries["said"], until=until, after=after, limit=_BATCH
        ):
            for row in rows:
                yield Entry.from_row(scope, row)
            after = str(rows[-1]["id"])

    async def everything(self, after: str, limit: int) -> list[Entry]:
        """Entries of all scopes in the order of their ids, those behind `after`."""
        rows = await self._graph.read(None, self._queries["everything"], after=after, limit=limit)
        return [Entry.from_row(Scope.of_key(str(row["scope"])), row) for row in rows]

    async def scopes_of(self, user: str) -> list[Scope]:
        """The scopes of a user that have an archive."""
        prefix = Scope(user, "").key
        rows = await self._graph.read(None, self._queries["scopes_of"], prefix=prefix)
        return [Scope.of_key(str(row["scope"])) for row in rows]

    async def number(self) -> int:
        """How many entries there are, of all scopes."""
        rows = await self._graph.read(None, self._queries["number"])
        return int(rows[0]["number"])


def _filled_anew(paged: Iterable[Paged], states: Mapping[Source, SourceState]) -> set[str]:
    """The ids of all pages that sources had which entries came in between of (`place_among`)."""
    return {
        each.state.source.page_id(number)
        for each in paged
        if any(entry.position < states[each.state.source].entries for entry in each.entries)
        for number in range(1, states[each.state.source].page + 1)
    }


def _newest(entry: Entry, known: Entry | None) -> Entry:
    """Of two texts of one entry the one that was sent later, in the place that it has."""
    if known is None:
        return entry
    if entry.sent_at <= known.sent_at or entry.text == known.text:
        return known
    return entry.at(known.page, known.position)
