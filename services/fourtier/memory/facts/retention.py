"""How many facts a scope may have and for how long, over the store that writes and finds them.

Of several values of a thing the older ones are superseded and worth least: no answer uses them.
Then go the facts that were stated longest ago. Either order evicts what was superseded before that
which superseded it, so that no eviction makes an old value valid again.
"""

from collections.abc import AsyncIterator, Collection, Sequence

from fourtier.engines.graph.queries import load_queries
from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.names import CountedName
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.store import FactStore, Stored
from fourtier.memory.retention.policy import Retention
from fourtier.memory.retention.scopes import rows_by_scope
from fourtier.memory.retention.storing import Candidate, store_retained
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.message import Scope, Vector

#: By the parameter `when-full`; in what order facts are evicted where they are.
_ORDERS = {"evict-superseded-first": "superseded_first", "evict-oldest": "oldest_first"}

#: Scopes that are read at a time; facts that are deleted in one transaction.
_SCOPES, _FACTS = 200, 200
#: Facts that a search reads at most to find enough that have not expired.
_MAX_SEARCHED = 1_000


class FactMemories:
    """The facts of all scopes, as the retention policy sees them."""

    def __init__(self, graph: GraphStore, store: FactStore, when_full: str) -> None:
        self._graph = graph
        self._facts = FactGraph(graph)
        self._forgetting = store.forgetting
        self._order = _ORDERS.get(when_full, "oldest_first")
        self._queries = load_queries("fourtier.memory.facts", "retention.cypher")

    async def count(self, scope: Scope) -> int:
        """How many facts a scope has, with superseded and expired ones."""
        return await self._facts.count(scope, superseded=True)

    async def count_after(self, scope: Scope, until: str, *, superseded: bool) -> int:
        """How many facts of a scope were stated after a time."""
        rows = await self._graph.read(
            scope, self._queries["count_after"], until=until, superseded=superseded
        )
        return int(rows[0]["number"])

    async def expired(self, scope: Scope, until: str) -> list[FactRecord]:
        """The facts of a scope that were stated last until a time."""
        # A page has those behind all that were stated later.
        first = await self.count_after(scope, until, superseded=True)
        found: list[FactRecord] = []
        while page := await self._facts.page(scope, _FACTS, first + len(found), superseded=True):
            found += page
        return [fact for fact in found if fact.stated_at <= until]

    async def known(self, stated: Sequence[ScopedFact]) -> Collection[str]:
        """The ids of those that are stored."""
        return await self._facts.by_ids({each.fact.id: each.scope for each in stated})

    async def scopes_of(self, user: str) -> list[Scope]:
        """The scopes of a user that have facts."""
        prefix = Scope(user, "").key
        rows = await self._graph.read(None, self._queries["scopes_of"], prefix=prefix)
        return [Scope.of_key(str(row["scope"])) for row in rows]

    async def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:
        """Scopes with facts that were stated last until then."""
        async for row in rows_by_scope(self._graph, self._queries["scopes_until"], until=before):
            yield Scope.of_key(str(row["scope"]))

    async def delete_expired(self, scope: Scope, before: str) -> int:
        """Delete the facts of a scope that were stated last until then."""
        deleted = 0
        while rows := await self._graph.read(
            scope, self._queries["until"], until=before, limit=_FACTS
        ):
            gone = await self._forgetting.delete(scope, [str(row["id"]) for row in rows], before)
            deleted += gone
            if not gone:
                break
        return deleted

    async def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        """Scopes with more facts than that."""
        after = ""
        while counted := await self._facts.scopes(after, _SCOPES):
            for scope, number in counted:
                if number > maximum:
                    yield scope
            after = counted[-1][0].key

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        """Delete those that are worth least; what is said again meanwhile stays."""
        gone: list[str] = []
        while len(gone) < number:
            rows = await self._graph.read(
                scope, self._queries[self._order], limit=min(number - len(gone), _FACTS)
            )
            until = {str(row["id"]): str(row["stated_at"]) for row in rows}
            if not await self._forgetting.delete_unless_said_again(scope, until):
                break
            gone += until
        return gone


class RetainedFacts:
    """Stores and finds facts as the flow's retention wants it."""

    def __init__(self, store: FactStore, memories: FactMemories, retention: Retention) -> None:
        self._store = store
        self._memories = memories
        self._retention = retention

    async def store(self, stated: Sequence[ScopedFact]) -> list[Stored]:
        """Write facts as `FactStore.store`, without expired ones; then make room for them.

        Raises:
            QuotaExceededError: a scope is full, and nothing is evicted.
        """
        results: dict[int, Stored] = {}

        async def store(indices: Sequence[int]) -> list[bool]:
            written = await self._store.store([stated[index] for index in indices])
            results.update(zip(indices, written, strict=True))
            return [each.created for each in written]

        reasons = await store_retained(
            self._retention,
            [Candidate(each.scope, each.fact.id, each.fact.stated_at) for each in stated],
            known=lambda: self._memories.known(stated),
            store=store,
        )
        return [
            Stored(each.fact.id, created=False, not_stored=reason) if reason else results[index]
            for index, (each, reason) in enumerate(zip(stated, reasons, strict=True))
        ]

    async def search(
        self,
        scope: Scope,
        query: str,
        vector: Vector | None,
        top_k: int,
        *,
        superseded: bool,
        mentions: Sequence[str] = (),
    ) -> list[tuple[FactRecord, float]]:
        """Search as `FactStore.search`, without expired facts."""
        limit = top_k
        while True:
            found = await self._store.search(
                scope, query, vector, limit, superseded=superseded, mentions=mentions
            )
            living = [
                (fact, score)
                for fact, score in found
                if not self._retention.is_expired(fact.stated_at)
            ]
            enough = len(living) >= top_k or len(living) == len(found)
            if enough or len(found) < limit or limit >= _MAX_SEARCHED:
                return living[:top_k]
            limit *= 2  # expired ones took their places

    async def names(self, scope: Scope, limit: int, with_name: str = "") -> list[CountedName]:
        """Names as `FactStore.names`; expired facts that no sweep has deleted yet do not count."""
        until = self._retention.expired_until
        expired = await self._memories.expired(scope, until) if until else []
        return await self._store.names(scope, limit, with_name, without=expired)

    async def get(self, scope: Scope, fact_id: str) -> FactRecord | None:
        """One fact, or None."""
        fact = await self._store.get(scope, fact_id)
        return None if fact is None or self._retention.is_expired(fact.stated_at) else fact

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> tuple[list[FactRecord], int]:
        """Facts last stated first, and how many there are in all, without expired ones."""
        until = self._retention.expired_until
        facts, total = await self._store.page(scope, limit, offset, superseded=superseded)
        if until:
            # These are the last of all, so that they take no places before others.
            facts = [fact for fact in facts if fact.stated_at > until]
            total = await self._memories.count_after(scope, until, superseded=superseded)
        return facts, total
