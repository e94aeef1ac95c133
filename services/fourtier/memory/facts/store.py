"""Facts in the graph, which is the truth, and in the vectors, which can be made from it.

One means guards the facts of a scope against two writers: the version (optimistic concurrency).
Whoever writes reads the version first and writes the next one in the transaction that changes the
facts; a version that is another by then is a conflict, nothing is written, and the writer starts
again. `index_sync` guards the index by the same version. So any number of writers, in one process
or in several replicas, end in a state that one writer could have made.

The key of the topics (Key_Shared) is not needed for that: it keeps one user's statements in order,
and makes conflicts rare. Two writers only meet in the few seconds in which a replica joins or
leaves, and where statements, forgetting and reindexing run in one process at the same time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.protocol import ConflictError, GraphStore
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.memory.facts.graph import FactGraph, ScopedFact, Versions
from fourtier.memory.facts.index import FactIndex
from fourtier.memory.facts.index_sync import IndexSync
from fourtier.memory.facts.ranking import successors_first
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.reindexing import Part, Reindexing
from fourtier.memory.facts.supersession import resolve_validity, slot_of
from fourtier.models.embeddings.client import Embed
from fourtier.schema.message import Scope, Vector

_ALL = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a fact that was written."""

    id: str
    created: bool
    superseded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """What a write did to the graph.

    Attributes:
        known: the stated facts that were there before.
        resolved: the stated facts and those that they bear on, as they are now.
        unindexed: facts whose points may be out of step.
    """

    known: Mapping[str, FactRecord]
    resolved: Sequence[ScopedFact]
    unindexed: Mapping[str, Scope]


class FactStore:
    """Reads and writes the facts of scopes, beside other writers."""

    def __init__(self, graph: GraphStore, vectors: VectorStore, embed: Embed) -> None:
        self._graph = FactGraph(graph)
        self._index = FactIndex(vectors, embed)
        self._index_sync = IndexSync(self._graph, self._index)
        self._reindexing = Reindexing(self._graph, self._index, self._index_sync)

    async def store(self, stated: Sequence[ScopedFact]) -> list[Stored]:
        """Write facts of any scopes; the same facts again change nothing.

        Graph first, vectors second: when it fails between the two, the repetition of the messages
        finds what the vectors lack.
        """
        written = await retry_on_conflict(lambda: self._write(stated))
        await self._index_sync.bring_in_step(written.unindexed)
        superseded: defaultdict[str, list[str]] = defaultdict(list)
        for each in written.resolved:
            superseded[each.fact.superseded_by].append(each.fact.id)
        ids = [each.fact.id for each in stated]
        return [
            Stored(
                identity,
                # Said twice in one batch it is new once.
                created=identity not in written.known and identity not in ids[:index],
                superseded=tuple(sorted(superseded[identity])),
            )
            for index, identity in enumerate(ids)
        ]

    async def _write(self, stated: Sequence[ScopedFact]) -> _Written:
        """Write the stated facts and those that they bear on.

        What must be embedded is embedded before the graph changes: it may fail.

        Raises:
            ConflictError: another writer has changed one of the scopes meanwhile.
        """
        versions = await self._graph.versions({each.scope for each in stated})
        known = await self._graph.by_ids({each.fact.id: each.scope for each in stated})
        facts = _merged(stated, known)
        slots = _slots(facts, known)
        in_slots = await self._graph.by_slots(slots)
        others = [ScopedFact(slots[fact.slot], fact) for fact in in_slots.values()]
        await self._require_versions(
            versions, {each.scope for each in others} | {facts[each].scope for each in known}
        )
        resolved = _resolved({each.fact.id: each for each in others} | facts)
        stale = await self._index.stale(resolved)
        points = await self._index.points(stale)
        before = known | in_slots
        if changed := _changed(resolved, before):
            await self._graph.write(changed, before=before, versions=versions)
        await self._index.write(points)
        return _Written(known, resolved, _scopes([*changed, *stale]))

    async def search(
        self, scope: Scope, query: str, vector: Vector | None, top_k: int, *, superseded: bool
    ) -> list[tuple[FactRecord, float]]:
        """Facts with their scores, best first; a superseded one stands behind its successor.

        What the vectors find is read from the graph: it alone knows what is valid or forgotten.
        """
        hits = await self._index.search(scope, query, vector, top_k, superseded=superseded)
        facts = await self._graph.by_ids({hit.id: scope for hit in hits})
        found = [(facts[hit.id], hit.score) for hit in hits if hit.id in facts]
        if not superseded:
            return [(fact, score) for fact, score in found if fact.valid]
        slots = {fact.slot: scope for fact, _ in found if not fact.valid}
        return successors_first(found, await self._graph.by_slots(slots))[:top_k]

    async def get(self, scope: Scope, fact_id: str) -> FactRecord | None:
        """One fact, or None."""
        return (await self._graph.by_ids({fact_id: scope})).get(fact_id)

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> tuple[list[FactRecord], int]:
        """Facts last stated first, and how many there are in all."""
        facts = await self._graph.page(scope, limit, offset, superseded=superseded)
        return facts, await self._graph.count(scope, superseded=superseded)

    async def forget(self, scope: Scope, fact_id: str) -> bool:
        """Delete one fact, and resolve again what it superseded; whether it existed.

        The vectors learn first what becomes valid again: a search asks the graph whether it is,
        but does not find what the vectors do not take for valid. They lose the fact last, so that
        a repetition after a failure still finds it there.
        """
        known = await retry_on_conflict(lambda: self._forget(scope, fact_id))
        deleted = await self._index_sync.bring_in_step({fact_id: scope})
        return known or deleted > 0

    async def _forget(self, scope: Scope, fact_id: str) -> bool:
        """Delete a fact from the graph, and resolve the slot that it was in; whether it existed.

        Raises:
            ConflictError: as `_write`.
        """
        versions = await self._graph.versions([scope])
        fact = await self.get(scope, fact_id)
        if fact is None:
            return False
        await self._require_versions(versions, {scope})
        in_slot = await self._graph.by_slots({fact.slot: scope} if fact.slot else {})
        left = {each.id: ScopedFact(scope, each) for each in in_slot.values() if each != fact}
        resolved = _resolved(left)
        await self._index.put(await self._index.stale(resolved))
        try:
            await self._graph.forget(scope, fact_id, _changed(resolved, in_slot), versions)
        finally:
            await self._index_sync.bring_in_step(_scopes(resolved))
        return True

    async def _require_versions(self, versions: Versions, scopes: Iterable[Scope]) -> None:
        """See that scopes that have facts have a version.

        Raises:
            ConflictError: one has none, and got one now.
        """
        if without := {scope for scope in scopes if not versions[scope]}:
            await self._graph.begin_versions(without)
            raise ConflictError("there were facts without a version")

    async def forget_scope(self, scope: Scope) -> int:
        """Delete all facts of a scope; returns how many there were."""
        number = await self._graph.count(scope, superseded=True)
        await retry_on_conflict(lambda: self._graph.forget_scope(scope))
        await self._index.delete_scope(scope)
        # What another writer has stored meanwhile stays, and so do its vectors.
        left = await self._graph.page(scope, _ALL, 0, superseded=True)
        await self._index_sync.bring_in_step(dict.fromkeys((fact.id for fact in left), scope))
        return number

    async def reindex(self, cursor: str) -> Part:
        """Do the next part of making the vectors of all scopes, with whatever model now embeds."""
        return await self._reindexing.part(cursor)

    async def numbers(self) -> tuple[int, int]:
        """How many facts the graph has, and how many points the vectors, of all scopes."""
        return await self._graph.number(), await self._index.count()


def _merged(stated: Iterable[ScopedFact], known: Mapping[str, FactRecord]) -> dict[str, ScopedFact]:
    """Each fact once, after all of its statements, in the slot that its words now say."""
    facts: dict[str, ScopedFact] = {}
    for each in stated:
        here = facts.get(each.fact.id)
        before = here.fact if here else known.get(each.fact.id)
        fact = before.stated_again(each.fact) if before else each.fact
        facts[fact.id] = ScopedFact(each.scope, replace(fact, slot=slot_of(each.scope, fact)))
    return facts


def _slots(facts: Mapping[str, ScopedFact], known: Mapping[str, FactRecord]) -> dict[str, Scope]:
    """The slots that facts are in, or were in before."""
    now = {each.fact.slot: each.scope for each in facts.values()}
    before = {fact.slot: facts[fact.id].scope for fact in known.values()}
    return {slot: scope for slot, scope in (now | before).items() if slot}


def _resolved(facts: Mapping[str, ScopedFact]) -> list[ScopedFact]:
    """All of the facts with their validity, slot by slot."""
    by_slot: defaultdict[tuple[Scope, str], list[FactRecord]] = defaultdict(list)
    for each in facts.values():
        alone = "" if each.fact.slot else each.fact.id
        by_slot[each.scope, each.fact.slot or alone].append(each.fact)
    return [
        ScopedFact(scope, fact)
        for (scope, _), records in by_slot.items()
        for fact in resolve_validity(records)
    ]


def _scopes(facts: Iterable[ScopedFact]) -> dict[str, Scope]:
    return {each.fact.id: each.scope for each in facts}


def _changed(resolved: Iterable[ScopedFact], before: Mapping[str, FactRecord]) -> list[ScopedFact]:
    return [each for each in resolved if before.get(each.fact.id) != each.fact]
