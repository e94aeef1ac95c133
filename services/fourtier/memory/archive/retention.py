"""How much a scope may have in the archive, and for how long: what was said longest ago goes first.

An entry is as old as what it says, whenever it was archived. Pages whose memos go with an entry are
announced by the sweep alone: of a full scope the oldest page loses entries one after another, and a
memo is not made for each of them.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from datetime import datetime

from fourtier.engines.graph.queries import load_queries
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.forgetting import ArchiveWriter
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.retention.policy import Retention
from fourtier.memory.retention.scopes import rows_by_scope
from fourtier.memory.retention.storing import Candidate, store_retained
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.message import Scope

#: Entries that are deleted at a time.
_ENTRIES = 200


class ArchiveMemories:
    """The entries of all scopes, as the retention policy sees them."""

    def __init__(self, graph: GraphStore, store: ArchiveStore, writer: ArchiveWriter) -> None:
        self._graph = graph
        self._store = store
        self._writer = writer
        self._queries = load_queries("fourtier.memory.archive", "retention.cypher")

    async def count(self, scope: Scope) -> int:
        """How many entries a scope has."""
        rows = await self._graph.read(scope, self._queries["count"])
        return int(rows[0]["number"])

    async def known(self, entries: Sequence[Entry]) -> Collection[str]:
        """The ids of those that are stored."""
        return await self._store.by_ids({each.id: each.source.scope for each in entries})

    async def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:
        """Scopes with entries that were said until then."""
        async for row in rows_by_scope(self._graph, self._queries["scopes_until"], until=before):
            yield Scope.of_key(str(row["scope"]))

    async def delete_expired(self, scope: Scope, before: str) -> int:
        """Delete the entries of a scope that were said until then."""
        deleted = 0
        while rows := await self._graph.read(
            scope, self._queries["until"], until=before, limit=_ENTRIES
        ):
            gone = await self._writer.delete(scope, [str(row["id"]) for row in rows], tell=False)
            deleted += gone
            if not gone:
                break
        return deleted

    async def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        """Scopes with more entries than that."""
        async for row in rows_by_scope(self._graph, self._queries["numbers"]):
            if int(row["number"]) > maximum:
                yield Scope.of_key(str(row["scope"]))

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        """Delete what was said longest ago."""
        gone: list[str] = []
        while len(gone) < number:
            limit = min(number - len(gone), _ENTRIES)
            rows = await self._graph.read(scope, self._queries["oldest"], limit=limit)
            ids = [str(row["id"]) for row in rows]
            if not await self._writer.delete(scope, ids, tell=False):
                break
            gone += ids
        return gone


class RetainedArchive:
    """Archives what is said as the flow's retention wants it."""

    def __init__(
        self,
        store: ArchiveStore,
        writer: ArchiveWriter,
        memories: ArchiveMemories,
        retention: Retention,
    ) -> None:
        self._store = store
        self._writer = writer
        self._memories = memories
        self._retention = retention

    @property
    def expired_until(self) -> str:
        """What was said until then has expired; empty where nothing expires."""
        return self._retention.expired_until

    async def living(self, scope: Scope, pages: Iterable[str]) -> list[Entry]:
        """What pages have that has not expired."""
        until = self.expired_until
        return [each for each in await self._store.on_pages(scope, pages) if each.said_at > until]

    async def append(self, entries: Sequence[Entry], now: datetime) -> None:
        """Store entries as `ArchiveWriter.append`, without expired ones; then make room for them.

        Raises:
            QuotaExceededError: a scope is full, and nothing is evicted; nothing is stored.
        """

        async def store(indices: Sequence[int]) -> list[bool]:
            return await self._writer.append([entries[index] for index in indices], now)

        await store_retained(
            self._retention,
            [Candidate(each.source.scope, each.id, each.said_at) for each in entries],
            known=lambda: self._memories.known(entries),
            store=store,
        )
