"""Facts in the graph, which is the truth, and in the vectors, which can be rebuilt from it."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fourtier.engines.graph.protocol import GraphSchema, GraphStore, Node, Statement, Value
from fourtier.engines.graph.queries import load_queries
from fourtier.engines.vectors.protocol import Point, VectorStore
from fourtier.facts.records import FactRecord
from fourtier.facts.supersession import find_slot, timeline
from fourtier.schema.message import Scope, Vector

#: How many similar facts a new one is compared with.
_CANDIDATES = 10
#: Below this cosine two statements are hardly about the same thing; found on FactConsolidation.
_LEAST_SIMILARITY = 0.5

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]

SCHEMA = GraphSchema(
    nodes=[
        Node(
            "Fact",
            dict.fromkeys(("scope", *FactRecord.__slots__), "STRING"),
            indexed=("scope", "slot"),
        )
    ]
)
#: Payload fields that searches filter on.
INDEXED = ("valid",)


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a fact that was written."""

    id: str
    created: bool
    superseded: tuple[str, ...]


class FactStore:
    """Reads and writes the facts of scopes.

    Writers of one scope must come one after another; the service's keys see to that.
    """

    def __init__(self, graph: GraphStore, vectors: VectorStore, embed: Embed) -> None:
        self._graph = graph
        self._vectors = vectors
        self._embed = embed
        self._queries = load_queries("fourtier.facts")

    async def store(self, scope: Scope, facts: Sequence[FactRecord]) -> list[Stored]:
        """Write facts in the order given; the same facts again change nothing.

        Graph first, vectors second: when it fails between the two, the repetition of the message
        writes the vectors.
        """
        contents = list(dict.fromkeys(fact.content for fact in facts))
        vectors = dict(zip(contents, await self._embed(contents), strict=True))
        known = await self._by_ids(scope, [fact.id for fact in facts])
        created = {fact.id for fact in facts} - known.keys()
        placed: dict[str, FactRecord] = {}
        for fact in facts:
            before = placed.get(fact.id) or known.get(fact.id)
            if before is not None:
                placed[fact.id] = before.stated_again(fact)
            else:
                candidates = await self._candidates(scope, vectors[fact.content], placed)
                placed[fact.id] = fact.in_slot(find_slot(fact, candidates))
        changed = await self._settle(scope, placed)
        await self._write(scope, changed, vectors)
        return [
            Stored(
                fact.id,
                fact.id in created,
                tuple(other.id for other in changed if other.superseded_by == fact.id),
            )
            for fact in facts
        ]

    async def _candidates(
        self, scope: Scope, vector: Vector, placed: dict[str, FactRecord]
    ) -> list[FactRecord]:
        """Facts that may be about the same thing: of this batch first, then the most similar."""
        hits = await self._vectors.similar(scope, vector, _CANDIDATES)
        near = [hit.id for hit in hits if (hit.similarity or 0) >= _LEAST_SIMILARITY]
        stored = await self._by_ids(scope, near)
        return [*placed.values(), *(stored[each] for each in near if each in stored)]

    async def _settle(self, scope: Scope, placed: dict[str, FactRecord]) -> list[FactRecord]:
        """All facts of the slots that were touched, with their validity set anew."""
        slots = list({fact.slot for fact in placed.values()})
        rows = await self._graph.read(scope, self._queries["by_slots"], slots=slots)
        together = {record.id: record for record in map(FactRecord.from_row, rows)} | placed
        by_slot: defaultdict[str, list[FactRecord]] = defaultdict(list)
        for fact in together.values():
            by_slot[fact.slot].append(fact)
        return [fact for members in by_slot.values() for fact in timeline(members)]

    async def _write(
        self, scope: Scope, facts: Sequence[FactRecord], vectors: dict[str, Vector]
    ) -> None:
        rows = [fact.to_row() for fact in facts]
        await self._graph.write(scope, Statement(self._queries["store"], {"facts": rows}))
        missing = [fact.content for fact in facts if fact.content not in vectors]
        if missing:
            vectors |= dict(zip(missing, await self._embed(missing), strict=True))
        await self._vectors.upsert(scope, [_point(fact, vectors[fact.content]) for fact in facts])

    async def search(
        self, scope: Scope, query: str, vector: Vector | None, top_k: int, *, superseded: bool
    ) -> list[tuple[FactRecord, float]]:
        """Facts with their scores, best first; a superseded one stands behind its successor."""
        if vector is None:
            vector = (await self._embed([query]))[0]
        where = None if superseded else {"valid": "yes"}
        hits = await self._vectors.search(scope, vector, query, top_k, where)
        facts = await self._by_ids(scope, [hit.id for hit in hits])
        found = [(facts[hit.id], hit.score) for hit in hits if hit.id in facts]
        if not superseded:
            return [(fact, score) for fact, score in found if fact.valid]
        return sorted(found, key=lambda pair: not pair[0].valid)

    async def get(self, scope: Scope, fact_id: str) -> FactRecord | None:
        """One fact, or None."""
        return (await self._by_ids(scope, [fact_id])).get(fact_id)

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> tuple[list[FactRecord], int]:
        """Facts last stated first, and how many there are in all."""
        rows = await self._graph.read(
            scope, self._queries["page"], limit=limit, offset=offset, superseded=superseded
        )
        counted = await self._graph.read(scope, self._queries["count"], superseded=superseded)
        return [FactRecord.from_row(row) for row in rows], _number(counted)

    async def forget(self, scope: Scope, fact_id: str) -> bool:
        """Delete one fact; what it superseded is settled anew. Whether there was one."""
        fact = await self.get(scope, fact_id)
        await self._graph.write(scope, Statement(self._queries["forget"], {"id": fact_id}))
        indexed = await self._vectors.delete(scope, [fact_id])
        if fact is not None:
            rows = await self._graph.read(scope, self._queries["by_slots"], slots=[fact.slot])
            if rows:
                await self._write(scope, timeline([FactRecord.from_row(row) for row in rows]), {})
        return fact is not None or indexed > 0

    async def forget_scope(self, scope: Scope) -> int:
        """Delete all facts of a scope; returns how many there were."""
        counted = await self._graph.read(scope, self._queries["count"], superseded=True)
        await self._graph.write(scope, Statement(self._queries["forget_scope"]))
        await self._vectors.delete_scope(scope)
        return _number(counted)

    async def _by_ids(self, scope: Scope, ids: Sequence[str]) -> dict[str, FactRecord]:
        if not ids:
            return {}
        rows = await self._graph.read(scope, self._queries["by_ids"], ids=list(dict.fromkeys(ids)))
        return {record.id: record for record in map(FactRecord.from_row, rows)}


def _point(fact: FactRecord, vector: Vector) -> Point:
    payload = {"valid": "yes" if fact.valid else "no"}
    return Point(fact.id, vector, f"{fact.speaker} {fact.content}", payload)


def _number(rows: list[dict[str, Value]]) -> int:
    return int(rows[0]["number"])
