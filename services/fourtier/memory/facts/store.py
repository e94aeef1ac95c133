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
from datetime import UTC, datetime

from fourtier.engines.completeness import IndexCompleteness
from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.memory.facts.detection import Detected, Detection
from fourtier.memory.facts.detector import Detector
from fourtier.memory.facts.forgetting import FactForgetting, said
from fourtier.memory.facts.graph import TOMBSTONES, FactGraph, ScopedFact, Versions
from fourtier.memory.facts.index import REBUILD, FactIndex
from fourtier.memory.facts.index_sync import IndexSync
from fourtier.memory.facts.mentions import keys_of, mentions_any
from fourtier.memory.facts.names import CountedName, list_names
from fourtier.memory.facts.ranking import newer_first, successors_first
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.reindexing import Part, Reindexing
from fourtier.memory.facts.related_facts import read_related
from fourtier.memory.facts.relevance import MIN_SIMILARITY, Relevance
from fourtier.memory.facts.replacements import replacing, with_named
from fourtier.memory.facts.slots import changed_facts, resolve_slots
from fourtier.memory.facts.supersession import slot_of
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.tombstones.store import Tombstones, store_unless_forgotten
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.message import NotStored, Scope, Vector


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a fact that was stated.

    Attributes:
        not_stored: why it is not stored.
    """

    id: str
    created: bool
    superseded: tuple[str, ...] = ()
    not_stored: NotStored | None = None


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

    def __init__(
        self,
        graph: GraphStore,
        vectors: VectorStore,
        embed: Embed,
        opt_outs: OptOuts | None = None,
        detector: Detector | None = None,
    ) -> None:
        self._graph = FactGraph(graph)
        self._index = FactIndex(vectors, embed)
        self.completeness = IndexCompleteness("the index of facts", REBUILD, self.numbers)
        self._detection = Detection(self._graph, self._index, detector)
        self._index_sync = IndexSync(self._graph, self._index)
        self._reindexing = Reindexing(self._graph, self._index, self._index_sync)
        self._tombstones = Tombstones(graph, TOMBSTONES, opt_outs)
        self._relevance = Relevance(self._graph, self._index)
        self.forgetting = FactForgetting(
            self._graph, self._index, self._index_sync, self._tombstones
        )

    async def store(self, stated: Sequence[ScopedFact]) -> list[Stored]:
        """Write facts of any scopes that were not forgotten; the same again change nothing."""
        results: dict[int, Stored] = {}

        async def store(indices: Sequence[int]) -> list[int]:
            written = await self._store([stated[index] for index in indices])
            results.update(zip(indices, written, strict=True))
            return [index for index in indices if results[index].created]

        async def take_out(indices: Sequence[int]) -> None:
            for index in indices:
                await self.forgetting.take_back(stated[index])

        reasons = await store_unless_forgotten(
            self._tombstones, [said(each) for each in stated], store=store, take_out=take_out
        )
        return [
            Stored(each.fact.id, created=False, not_stored=reason) if reason else results[index]
            for index, (each, reason) in enumerate(zip(stated, reasons, strict=True))
        ]

    async def _store(self, stated: Sequence[ScopedFact]) -> list[Stored]:
        """Write facts and their points.

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

        Raises:
            ConflictError: another writer has changed one of the scopes meanwhile.
        """
        versions = await self._graph.versions({each.scope for each in stated})
        known = await self._graph.by_ids({each.fact.id: each.scope for each in stated})
        facts = {
            name: self._to_compare(each) if name not in known else each
            for name, each in _merged(stated, known).items()
        }
        return await self._write_resolved(facts, known, versions)

    def wants_comparison(self, scoped: ScopedFact) -> bool:
        """Whether a fact that is new is to be compared once it is stored."""
        return self._detection.wants(scoped)

    def _to_compare(self, scoped: ScopedFact) -> ScopedFact:
        if not self._detection.wants(scoped):
            return scoped
        return replace(scoped, fact=replace(scoped.fact, uncompared="yes"))

    async def uncompared(self, limit: int) -> dict[str, Scope]:
        """Facts of any scopes that no model has compared yet, by their ids."""
        return await self._graph.uncompared(limit)

    async def compare(self, waiting: Mapping[str, Scope]) -> None:
        """Compare stored facts with those that are similar, and supersede what they leave untrue.

        Raises: what the model raises; the facts stay as they are then.
        """
        facts = await self._graph.by_ids(waiting)
        detected = await self._detection.find(
            {name: ScopedFact(waiting[name], fact) for name, fact in facts.items()}
        )
        scopes = {name: waiting[name] for name in facts}
        scopes |= {name: each.scope for name, each in detected.others.items()}
        written = await retry_on_conflict(lambda: self._write_compared(detected, scopes))
        await self._index_sync.bring_in_step(written.unindexed)

    async def _write_compared(self, detected: Detected, scopes: Mapping[str, Scope]) -> _Written:
        """Write what was detected of facts, as far as they are still there.

        Raises:
            ConflictError: as `_write`.
        """
        versions = await self._graph.versions(scopes.values())
        known = await self._graph.by_ids(scopes)
        facts = detected.applied(
            {
                name: ScopedFact(scopes[name], replace(fact, uncompared=""))
                for name, fact in known.items()
            }
        )
        return await self._write_resolved(facts, known, versions)

    async def _write_resolved(
        self,
        facts: Mapping[str, ScopedFact],
        known: Mapping[str, FactRecord],
        versions: Versions,
    ) -> _Written:
        """Write facts, and those that they bear on.

        What must be embedded is embedded before the graph changes: it may fail.

        Args:
            facts: as they are to be.
            known: those of them that are stored, as they are.
            versions: of their scopes, read before `known`.

        Raises:
            ConflictError: another writer has changed one of the scopes meanwhile.
        """
        related = await read_related(self._graph, facts, _slots(known, facts))
        await self._graph.require_versions(
            versions,
            {each.scope for each in related.facts.values()} | {facts[each].scope for each in known},
        )
        every = {**related.facts, **facts}
        notes = with_named(related.notes, ((each.scope, each.fact) for each in facts.values()))
        by_id = {**related.naming, **{name: each.fact for name, each in every.items()}}
        resolved = resolve_slots(every, replacing({**related.notes, **notes}, by_id))
        stale = await self._index.stale(resolved)
        points = await self._index.points(stale)
        before = {**known, **{name: each.fact for name, each in related.facts.items()}}
        if changed := changed_facts(resolved, before):
            await self._graph.write(
                changed,
                self._graph.replacements.statements(notes, before=related.notes),
                before=before,
                versions=versions,
            )
        await self._index.write(points)
        return _Written(known, resolved, _scopes([*changed, *stale]))

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
        """Facts with their scores, best first; a superseded one stands behind its successor.

        What the vectors find is read from the graph: it alone knows what is valid or forgotten.
        `mentions` are names of which each fact must mention one; none ask for nothing.

        Raises:
            UnavailableError: the index was lost, and is not made again yet.
        """
        await self.completeness.require()
        keys = keys_of(mentions)
        hits = await self._index.search(
            scope, query, vector, top_k, superseded=superseded, mentions=keys
        )
        facts = await self._graph.by_ids({hit.id: scope for hit in hits})
        here = [hit for hit in hits if hit.id in facts]
        attached = await self._with_valid_conflicts(scope, [facts[hit.id] for hit in here])
        found = [(fact, hit.score) for fact, hit in zip(attached, here, strict=True)]
        if not superseded:
            return newer_first([(fact, score) for fact, score in found if fact.valid])
        old = [fact for fact, _ in found if not fact.valid]
        others = await self._graph.by_slots({fact.slot: scope for fact in old if fact.slot})
        others |= await self._graph.by_ids({fact.superseded_by: scope for fact in old})
        ordered = successors_first(newer_first(found), others)
        return [each for each in ordered if mentions_any(scope, each[0], keys)][:top_k]

    async def names(
        self,
        scope: Scope,
        limit: int,
        with_name: str = "",
        *,
        without: Iterable[FactRecord] = (),
    ) -> list[CountedName]:
        """Names that valid facts mention, the most frequent first; see `list_names`."""
        await self.completeness.require()
        return await list_names(self._index, scope, limit, with_name, without=without)

    async def about(
        self,
        scope: Scope,
        query: str,
        top_k: int,
        *,
        min_similarity: float = MIN_SIMILARITY,
        mentions: Sequence[str] = (),
    ) -> list[tuple[FactRecord, float]]:
        """Facts that are about something, superseded ones too, with their scores, best first."""
        await self.completeness.require()
        found = await self._relevance.about(scope, query, min_similarity)
        keys = keys_of(mentions)
        return [each for each in found if mentions_any(scope, each[0], keys)][:top_k]

    async def get(self, scope: Scope, fact_id: str) -> FactRecord | None:
        """One fact, or None."""
        found = await self._graph.by_ids({fact_id: scope})
        return next(iter(await self._with_valid_conflicts(scope, list(found.values()))), None)

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> tuple[list[FactRecord], int]:
        """Facts last stated first, and how many there are in all."""
        read = await self._graph.page(scope, limit, offset, superseded=superseded)
        facts = await self._with_valid_conflicts(scope, read)
        return facts, await self._graph.count(scope, superseded=superseded)

    async def _with_valid_conflicts(
        self, scope: Scope, facts: Sequence[FactRecord]
    ) -> list[FactRecord]:
        """Of those that a model doubts only what is there and valid, where the fact itself is."""
        doubted = {name: scope for fact in facts if fact.valid for name in fact.doubts}
        others = await self._graph.by_ids(doubted) if doubted else {}
        valid = {name for name, fact in others.items() if fact.valid}
        return [
            replace(
                fact, doubts=tuple(each for each in fact.doubts if fact.valid and each in valid)
            )
            for fact in facts
        ]

    async def forget(self, scope: Scope, fact_id: str, at: datetime | None = None) -> bool:
        """Forget what was said of one fact until a time, by default until now; whether it was."""
        return await self.forgetting.forget(scope, fact_id, at or datetime.now(UTC))

    async def forget_scope(self, scope: Scope, at: datetime | None = None) -> int:
        """Forget all facts of a scope; returns how many there were."""
        return await self.forgetting.forget_scope(scope, at or datetime.now(UTC))

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


def _slots(known: Mapping[str, FactRecord], facts: Mapping[str, ScopedFact]) -> dict[str, Scope]:
    """The slots that facts were in before."""
    return {fact.slot: facts[name].scope for name, fact in known.items() if fact.slot}


def _scopes(facts: Iterable[ScopedFact]) -> dict[str, Scope]:
    return {each.fact.id: each.scope for each in facts}
