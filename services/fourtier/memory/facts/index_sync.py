"""Bringing the index in step with the graph, whoever else writes to the two.

The vectors know no transactions: a replica may write a point that it made from facts which another
replica has changed and indexed meanwhile. The same version that guards the graph guards this:
whoever has written to the index reads the version again, and repeats where it has changed.
"""

from collections import defaultdict
from collections.abc import Mapping

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.index import FactIndex
from fourtier.runtime.service.stores.graph import ConflictError
from fourtier.schema.message import Scope


class IndexSync:
    """Brings the points of facts in step with the facts.

    Every writer does so after it has changed the graph. The last one that writes a point finds the
    version as it was when it read the fact, so the point is that of the fact as it is now; and
    whoever changes the graph after that looks at the index later still.
    """

    def __init__(self, graph: FactGraph, index: FactIndex) -> None:
        self._graph = graph
        self._index = index

    async def bring_in_step(self, facts: Mapping[str, Scope]) -> int:
        """Write the points that facts lack, delete those of deleted facts; how many it deleted.

        Raises:
            ConflictError: other writers were first every time.
        """
        deleted = 0

        async def sync() -> None:
            nonlocal deleted
            versions = await self._graph.versions(facts.values())
            written, gone = await self._sync(facts)
            deleted += gone
            if (written or gone) and await self._graph.versions(versions) != versions:
                raise ConflictError("facts have changed while their points were written")

        if facts:
            await retry_on_conflict(sync)
        return deleted

    async def _sync(self, facts: Mapping[str, Scope]) -> tuple[int, int]:
        """Make the points from the facts as they are; how many were written and deleted."""
        now = await self._graph.by_ids(facts)
        stale = await self._index.stale(
            [ScopedFact(facts[each], fact) for each, fact in now.items()]
        )
        await self._index.put(stale)
        by_scope: defaultdict[Scope, list[str]] = defaultdict(list)
        for identity, scope in facts.items():
            if identity not in now:
                by_scope[scope].append(identity)
        deleted = [await self._index.delete(scope, ids) for scope, ids in by_scope.items()]
        return len(stale), sum(deleted)
