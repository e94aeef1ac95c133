"""Making the index from the graph, part by part."""

from dataclasses import dataclass

from fourtier.memory.facts.graph import FactGraph
from fourtier.memory.facts.index import FactIndex
from fourtier.memory.facts.index_sync import IndexSync
from fourtier.runtime.errors import PermanentError
from fourtier.schema.message import Scope

#: Facts in one part: a second or so of the bundled model's time.
_FACTS = 128
#: Scopes in one part that are looked through for strays; counting a scope takes a millisecond.
_SCOPES = 500
_FACTS_STAGE, _SCOPES_STAGE = "facts", "scopes"


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of reindexing did.

    Attributes:
        cursor: where the next part begins; empty when this was the last one.
        written: how many facts it wrote to the index.
        strays: how many points it removed because the graph has no such fact.
    """

    cursor: str
    written: int = 0
    strays: int = 0


class Reindexing:
    """Writes the points of all facts, in the order of their ids, then removes those of none.

    The caller keeps the cursor, so that any replica can do the next part, and a part that is asked
    for twice changes nothing. Others read and write meanwhile: what they have changed in a part
    while it was written is written once more.
    """

    def __init__(self, graph: FactGraph, index: FactIndex, index_sync: IndexSync) -> None:
        self._graph = graph
        self._index = index
        self._index_sync = index_sync

    async def part(self, cursor: str) -> Part:
        """Do the part that begins at a cursor; the empty one is the beginning.

        Raises:
            PermanentError: it is not a cursor.
        """
        stage, _, after = (cursor or f"{_FACTS_STAGE} ").partition(" ")
        if stage == _FACTS_STAGE:
            return await self._facts(after)
        if stage == _SCOPES_STAGE:
            return await self._scopes(after)
        raise PermanentError(f"{cursor!r} is not a cursor that an answer gave")

    async def _facts(self, after: str) -> Part:
        batch = await self._graph.everything(after, _FACTS)
        await self._index.put(batch)
        await self._index_sync.bring_in_step({each.fact.id: each.scope for each in batch})
        if not batch:
            return Part(f"{_SCOPES_STAGE} ")
        return Part(f"{_FACTS_STAGE} {batch[-1].fact.id}", written=len(batch))

    async def _scopes(self, after: str) -> Part:
        counted = await self._graph.scopes(after, _SCOPES)
        strays = 0
        for scope, facts in counted:
            if await self._index.count(scope) > facts:
                strays += await self._remove_strays(scope)
        return Part(f"{_SCOPES_STAGE} {counted[-1][0].key}" if counted else "", strays=strays)

    async def _remove_strays(self, scope: Scope) -> int:
        removed, after = 0, None
        while ids := await self._index.ids(scope, _FACTS, after):
            known = await self._graph.by_ids(dict.fromkeys(ids, scope))
            strays = dict.fromkeys((each for each in ids if each not in known), scope)
            removed += await self._index_sync.bring_in_step(strays)
            after = ids[-1]
        return removed
