"""RetentionPolicy the index in step with the graph, whoever else writes to the two."""

from collections import defaultdict
from collections.abc import Mapping

from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.index import FactIndex
from fourtier.runtime.errors import UnavailableError
from fourtier.schema.message import Scope

#: Each time another writer has changed a fact meanwhile, so that more than two are rare.
_ROUNDS = 10


class Indexing:
    """Brings the points of facts in step with the facts.

    Every writer does so after it has changed the graph, and looks once more whenever it has written
    to the index. So another replica, which may have changed a fact meanwhile and indexed it before
    us, is not undone by what we had read before that.
    """

    def __init__(self, graph: FactGraph, index: FactIndex) -> None:
        self._graph = graph
        self._index = index

    async def bring_in_step(self, facts: Mapping[str, Scope]) -> None:
        """Write the points that facts lack, delete those of facts that are no more.

        Raises:
            UnavailableError: the index does not show what is written to it.
        """
        for _ in range(_ROUNDS):
            if not facts:
                return
            facts = await self._written(facts)
        raise UnavailableError("the vectors do not show what was written to them")

    async def _written(self, facts: Mapping[str, Scope]) -> Mapping[str, Scope]:
        """Those of the facts whose points were not in step, and are so now."""
        now = await self._graph.by_ids(facts)
        stale = await self._index.stale(
            [ScopedFact(facts[each], fact) for each, fact in now.items()]
        )
        await self._index.put(stale)
        gone = {each: scope for each, scope in facts.items() if each not in now}
        deleted = await self._delete(gone)
        return {each.fact.id: each.scope for each in stale} | (gone if deleted else {})

    async def _delete(self, facts: Mapping[str, Scope]) -> int:
        by_scope: defaultdict[Scope, list[str]] = defaultdict(list)
        for identity, scope in facts.items():
            by_scope[scope].append(identity)
        return sum([await self._index.delete(scope, ids) for scope, ids in by_scope.items()])
