"""Making the index from the graph, part by part."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fourtier.facts.graph import FactGraph, Owned
from fourtier.facts.index import FactIndex
from fourtier.facts.records import FactRecord
from fourtier.runtime.errors import RefusedError
from fourtier.schema.message import Scope

#: Facts in one part: a second or so of the bundled model's time, in which nothing else is written.
_FACTS = 128
#: Scopes in one part that are looked through for strays; counting a scope takes a millisecond.
_SCOPES = 500
_FACTS_STAGE, _SCOPES_STAGE = "facts", "scopes"


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of a rebuild did.

    Attributes:
        cursor: where the next part begins; empty when this was the last one.
        written: how many facts it wrote to the index.
        strays: how many points it removed because the graph has no such fact.
    """

    cursor: str
    written: int = 0
    strays: int = 0


class Rebuilding:
    """Writes the points of all facts, in the order of their ids, then removes those of none.

    Whoever asks for the parts keeps the cursor, so that any replica can do the next one, and a part
    that is asked for twice changes nothing. Others read and write meanwhile: a lock keeps the
    writers of this process out of a part, and what those of other replicas have changed in it is
    written once more.
    """

    def __init__(self, graph: FactGraph, index: FactIndex, writing: asyncio.Lock) -> None:
        self._graph = graph
        self._index = index
        self._writing = writing

    async def part(self, cursor: str) -> Part:
        """Do the part that begins at a cursor; the empty one is the beginning.

        Raises:
            RefusedError: it is no cursor.
        """
        stage, _, after = (cursor or f"{_FACTS_STAGE} ").partition(" ")
        if stage == _FACTS_STAGE:
            return await self._facts(after)
        if stage == _SCOPES_STAGE:
            return await self._scopes(after)
        raise RefusedError(f"{cursor!r} is no cursor that an answer gave")

    async def _facts(self, after: str) -> Part:
        async with self._writing:
            batch = await self._graph.everything(after, _FACTS)
            scopes = {each.fact.id: each.scope for each in batch}
            await self._bring_in_step(scopes, {each.fact.id: each.fact for each in batch})
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
            async with self._writing:
                known = await self._graph.by_ids(dict.fromkeys(ids, scope))
                strays = dict.fromkeys((each for each in ids if each not in known), scope)
                await self._bring_in_step(strays, {})
            removed += len(strays)
            after = ids[-1]
        return removed

    async def _bring_in_step(
        self, facts: Mapping[str, Scope], now: Mapping[str, FactRecord]
    ) -> None:
        """Write the points of facts that there are, delete those of others.

        Until the graph still says the same afterwards: another replica may have changed a fact
        while it was being embedded, and indexed it before it was written here.
        """
        while facts:
            await self._write(facts, now)
            before, now = now, await self._graph.by_ids(facts)
            facts = {each: of for each, of in facts.items() if before.get(each) != now.get(each)}

    async def _write(self, facts: Mapping[str, Scope], now: Mapping[str, FactRecord]) -> None:
        there = [Owned(scope, now[each]) for each, scope in facts.items() if each in now]
        await self._index.write(await self._index.points(there))
        gone: defaultdict[Scope, list[str]] = defaultdict(list)
        for each, scope in facts.items():
            if each not in now:
                gone[scope].append(each)
        for scope, ids in gone.items():
            await self._index.delete(scope, ids)
