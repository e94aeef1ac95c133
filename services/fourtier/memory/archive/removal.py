"""Deleting from the graph: entries, and memos that may have words of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries, over
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.memo_store import DropMemos, Stale
from fourtier.memory.archive.memos import Memo
from fourtier.memory.archive.paging import SourceState
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.archive.writing import Writing, of_ids
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.message import Scope


class ArchiveRemoval:
    """Deletes what the graph has of the archive, and says which pages are left without a memo.

    Attributes:
        drop: deletes memos from the index; called before they go from the graph.
    """

    def __init__(self, graph: GraphStore, store: ArchiveStore, drop: DropMemos) -> None:
        self._graph = graph
        self._store = store
        self.drop = drop
        self._queries = load_queries("fourtier.memory.archive")
        self._writing = Writing(self._queries)

    async def delete(self, scope: Scope, entries: Sequence[Entry]) -> Sequence[str]:
        """Delete entries, and pages and sources that have none any more.

        Memos of these pages go with them, and all that were made with one of those. Returns the ids
        of pages that are left without a memo.
        """
        if not entries:
            return []
        return await retry_on_conflict(lambda: self._delete(scope, entries))

    async def _delete(self, scope: Scope, entries: Sequence[Entry]) -> Sequence[str]:
        """Delete entries.

        Raises:
            ConflictError: another replica has changed one of the sources.
        """
        states = await self._store.states({entry.source for entry in entries})
        there = await self._store.by_ids({entry.id: scope for entry in entries})
        if not there:
            return []
        entries = list(there.values())  # they may have come on other pages meanwhile
        gone = {entry.id for entry in entries}
        pages = {entry.page_id for entry in entries}
        left = [each for each in await self._store.on_pages(scope, pages) if each.id not in gone]
        empty = sorted(pages - {each.page_id for each in left})
        ended, retained = await self._emptied(scope, states.values(), empty)
        stale = await self._store.memos.stale(pages)
        await stale.drop(self.drop)
        changed_sources = dict(stale.states) | {each.source: each for each in (*retained, *ended)}
        following = new_id()
        rows = [replace(each, version=following).to_row(new_id()) for each in ended]
        await self._graph.write(
            None,
            *self._writing.version_writes(
                [each for each in changed_sources.values() if each.version], following
            ),
            *of_ids(self._queries["delete_entries"], sorted(gone)),
            *of_ids(self._queries["delete_pages"], empty),
            *self._store.memos.removal(stale, pages - set(empty)),
            *over(self._queries["delete_sources"], "sources", rows),
        )
        return sorted((pages | {memo.page_id for memo in stale.memos}) - set(empty))

    async def delete_memos(self, memos: Sequence[Memo]) -> Sequence[str]:
        """Delete memos, and all that were made with one of them; the ids of their pages.

        They were forgotten for words that their pages do not have.
        """

        async def delete() -> Sequence[str]:
            stale = await self._store.memos.stale([], memos)
            await stale.drop(self.drop)
            removal = self._store.memos.removal(stale, [], reason="memo-forgotten")
            await self._graph.write(
                None, *self._writing.version_writes(stale.states.values()), *removal
            )
            return sorted(memo.page_id for memo in stale.memos)

        return await retry_on_conflict(delete) if memos else []

    async def replace_memos(self, memo: Memo, replaced: Stale, read: Iterable[SourceState]) -> None:
        """Write a memo of its page, if nobody has changed the sources that it rests on.

        Args:
            memo: what is written, unless it is there.
            replaced: memos that go from the graph.
            read: the states that the sources of its page and of the memos shown had.

        Raises:
            ConflictError: another replica has changed one of the sources.
        """
        memos = self._store.memos
        states = dict(replaced.states) | {each.source: each for each in read}
        there = await memos.by_ids(memo.source.scope, [memo.id])
        await self._graph.write(
            None,
            *self._writing.version_writes(states.values()),
            *memos.removal(replaced, []),
            *([] if there else memos.creation(memo)),
        )

    async def _emptied(
        self, scope: Scope, states: Iterable[SourceState], empty: Sequence[str]
    ) -> tuple[list[SourceState], list[SourceState]]:
        """The sources that have no page any more without some pages, and the others.

        The next entry of one that is left without its last page begins a new one.
        """
        ended: list[SourceState] = []
        retained: list[SourceState] = []
        for state in states:
            numbers = range(1, state.page + 1)
            pages = [state.source.page_id(number) for number in numbers]
            there = {str(row["id"]) for row in await self._store.pages(scope, pages)} - set(empty)
            last_is_gone = bool(pages) and pages[-1] not in there
            after = replace(state, closed=True) if last_is_gone else state
            (retained if there else ended).append(after)
        return ended, retained
