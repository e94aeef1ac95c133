"""Memos in the graph, which is the truth, with what their makers were shown.

A memo may have words of its page, and of each memo that its maker was shown. So whatever changes
what a page says deletes its memo in the same transaction, and all that were made with that one.

Both sides note the version of the sources concerned (see `store`): who stores a memo those of its
page and of the memos shown, who deletes one that of its page. So none comes in between unseen.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fourtier.engines.graph.queries import load_queries, over
from fourtier.memory.archive.entries import Source
from fourtier.memory.archive.memos import Memo
from fourtier.memory.archive.paging import SourceState
from fourtier.memory.archive.writing import of_ids
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.schema.message import Scope

#: Deletes memos from the index.
DropMemos = Callable[[Scope, Sequence[Memo]], Awaitable[None]]


class States(Protocol):
    """Reads how far sources are."""

    async def __call__(self, sources: Iterable[Source]) -> Mapping[Source, SourceState]:
        """The state of each."""
        ...


#: Memos that are read at a time.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Stale:
    """Memos that must go, with the states that their sources had when they were read."""

    memos: Sequence[Memo] = ()
    states: Mapping[Source, SourceState] = field(default_factory=dict)

    async def drop(self, drop: DropMemos) -> None:
        """Have them deleted from the index."""
        by_scope: defaultdict[Scope, list[Memo]] = defaultdict(list)
        for memo in self.memos:
            by_scope[memo.source.scope].append(memo)
        for scope, memos in by_scope.items():
            await drop(scope, memos)


class MemoStore:
    """Reads memos, and makes the statements that write them."""

    def __init__(self, graph: GraphStore, states: States) -> None:
        self._graph = graph
        self._states = states
        self._queries = load_queries("fourtier.memory.archive", "memos.cypher")

    async def of_pages(self, pages: Iterable[str]) -> dict[str, Memo]:
        """The memos of pages, by the ids of these."""
        ids = sorted(set(pages))
        rows = await self._read("of_pages", pages=ids) if ids else []
        return {memo.page_id: memo for memo in await self._with_shown(rows)}

    async def by_ids(self, scope: Scope, ids: Sequence[str]) -> dict[str, Memo]:
        """Memos of a scope by their ids."""
        if not ids:
            return {}
        rows = await self._graph.read(scope, self._queries["by_ids"], ids=ids)
        return {memo.id: memo for memo in await self._with_shown(rows)}

    async def latest(
        self,
        scope: Scope,
        until: str,
        *,
        source: str = "",
        before: int = 0,
        limit: int,
        offset: int = 0,
    ) -> Sequence[Memo]:
        """Memos of a scope, those of what was said last first.

        Args:
            scope: whose.
            until: what was said until then may not be in them.
            source: whose pages they are of; of any if empty.
            before: of pages with lower numbers; of any if 0.
            limit: how many at most.
            offset: how many are left out before.
        """
        rows = await self._graph.read(
            scope,
            self._queries["list"],
            until=until,
            source=source,
            before=before,
            limit=limit,
            offset=offset,
        )
        return await self._with_shown(rows)

    async def all_of(self, scope: Scope) -> AsyncIterator[Memo]:
        """All memos of a scope, read some at a time; who deletes them first reads all."""
        offset = 0
        while rows := await self.latest(scope, "", limit=_BATCH, offset=offset):
            for memo in rows:
                yield memo
            offset += len(rows)

    async def count(self, scope: Scope, until: str, *, source: str = "", before: int = 0) -> int:
        """How many `latest` has in all."""
        rows = await self._graph.read(
            scope, self._queries["count"], until=until, source=source, before=before
        )
        return int(rows[0]["number"])

    async def number(self) -> int:
        """How many memos there are, of all scopes."""
        rows = await self._graph.read(None, self._queries["number"])
        return int(rows[0]["number"])

    async def everything(self, after: str, limit: int) -> Sequence[Memo]:
        """Memos of all scopes in the order of their ids, those behind `after`."""
        rows = await self._read("everything", after=after, limit=limit)
        return [Memo.from_row(row) for row in rows]

    async def stale(self, pages: Iterable[str], memos: Iterable[Memo] = ()) -> Stale:
        """The memos of pages, and some others, with all that were made with one of them.

        They are read once more when the states are known: one that came in between would be missed.
        """
        ids, others = sorted(set(pages)), list(memos)
        found = await self._closure(ids, others)
        while found:
            known = await self._states({memo.source for memo in found.values()})
            states = {source: state for source, state in known.items() if state.version}
            again = await self._closure(ids, others)
            if again.keys() <= found.keys():
                return Stale(list(again.values()), states)
            found = again
        return Stale()

    async def _closure(self, pages: Sequence[str], memos: Sequence[Memo]) -> dict[str, Memo]:
        rows = await self._read("of_pages", pages=pages) if pages else []
        new = {each.id: each for each in [*map(Memo.from_row, rows), *memos]}
        found: dict[str, Memo] = {}
        while new:
            found |= new
            made = await self._read("made_with", ids=sorted(new))
            new = {memo.id: memo for memo in map(Memo.from_row, made) if memo.id not in found}
        return found

    def removal(
        self, stale: Stale, changed: Iterable[str], *, reason: str = "changed"
    ) -> Sequence[Statement]:
        """What deletes memos, and has their pages and changed ones announced, if they are closed.

        Args:
            stale: what is deleted.
            changed: ids of pages that say something else from now on.
            reason: why memos of other pages go.
        """
        revised = dict.fromkeys((memo.page_id for memo in stale.memos), reason)
        revised |= dict.fromkeys(changed, "changed")
        rows: list[Row] = [
            {"id": name, "revision": f"{why}/{new_id()}"} for name, why in sorted(revised.items())
        ]
        return [
            *of_ids(self._queries["delete"], sorted(memo.id for memo in stale.memos)),
            *over(self._queries["revise_pages"], "pages", rows),
        ]

    def creation(self, memo: Memo) -> Sequence[Statement]:
        """What writes a memo, as long as its page and all that was shown are there."""
        rows: list[Row] = [{"memo": memo.id, "shown": each} for each in memo.shown]
        return [
            *over(self._queries["create"], "memos", [memo.to_row()], all_there=True),
            *over(self._queries["show"], "shown", rows, all_there=True),
        ]

    async def _with_shown(self, rows: Sequence[Row]) -> list[Memo]:
        if not rows:
            return []
        pairs = await self._read("shown", ids=[str(row["id"]) for row in rows])
        shown: defaultdict[str, list[str]] = defaultdict(list)
        for pair in pairs:
            shown[str(pair["memo"])].append(str(pair["shown"]))
        memos = [Memo.from_row(row) for row in rows]
        return [replace(memo, shown=tuple(shown[memo.id])) for memo in memos]

    async def _read(self, query: str, **parameters: object) -> list[Row]:
        return [*await self._graph.read(None, self._queries[query], **parameters)]  # type: ignore[arg-type]
