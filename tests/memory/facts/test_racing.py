"""Three replicas, and two writers in each, that write one user's facts at once."""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from fourtier.memory.facts.graph import SCHEMA, ScopedFact
from fourtier.memory.facts.index import payload_of
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.store import FactStore
from fourtier.memory.facts.supersession import resolve_validity
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.message import Scope, Vector
from tests.memory.facts.stores import Opened, Vectors, at, opened, said
from tests.support.graphs import GRAPHS, graph_of

CONTENTS = [
    *(f"My Hawaii budget is {number},000 dollars" for number in range(10, 16)),
    "I live in Oslo",
    "I moved to Bergen",
    "I like tea",
]
ROUNDS, REPLICAS, WRITERS, DEEDS = 30, 3, 2, 2
ALL = 1_000


@pytest.fixture(params=GRAPHS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path, opening=graph_of(request.param, tmp_path, SCHEMA)) as store:
        yield store


class Late(Vectors):
    """Vectors that learn what is written to them when others may have gone on already."""

    def __init__(self, real: VectorStore, chance: random.Random) -> None:
        super().__init__(real)
        self._chance = chance

    async def dawdle(self) -> None:
        """Let others go first, or not."""
        await asyncio.sleep(self._chance.choice((0, 0, 0.002, 0.01)))

    async def before(self, method: str) -> None:
        await self.dawdle()
        await super().before(method)


class Replica:
    """One of the replicas."""

    def __init__(self, store: Opened, chance: random.Random) -> None:
        self._store = store
        self._chance = chance
        self._vectors = Late(store.vectors, chance)
        self._facts = FactStore(store.graph, self._vectors, self._embed)

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        await self._vectors.dawdle()
        return await self._store.embedder(texts)

    async def work(self, scope: Scope) -> None:
        """State, repeat and forget."""
        for _ in range(DEEDS):
            content = self._chance.choice(CONTENTS)
            fact = said(content, self._chance.randint(1, 4), scope)
            match self._chance.choice(("state", "state", "state", "forget", "forget all")):
                case "state":
                    await self._facts.store([fact])
                case "forget":
                    await self._facts.forget(scope, fact.fact.id, at(self._chance.randint(0, 3)))
                case _ if self._chance.random() < 0.3:
                    await self._facts.forget_scope(scope, at(self._chance.randint(0, 3)))


@pytest.mark.parametrize("seed", range(2))
async def test_facts_and_vectors_end_as_if_one_had_written(store: Opened, seed: int) -> None:
    scope = Scope(f"ann-{new_id()}", "default")
    chance = random.Random(seed)  # noqa: S311 - no secret
    replicas = [Replica(store, random.Random(chance.random())) for _ in range(REPLICAS)]  # noqa: S311

    for _ in range(ROUNDS):
        await asyncio.gather(*(replica.work(scope) for replica in replicas * WRITERS))

        facts, number = await store.facts.page(scope, ALL, 0, superseded=True)
        assert number == len(facts)
        assert {fact.id: fact for fact in facts} == {fact.id: fact for fact in resolved(facts)}
        points = {hit.id: dict(hit.payload) for hit in await store.vectors.scroll(scope, ALL)}
        assert points == {fact.id: payload_of(ScopedFact(scope, fact)) for fact in facts}

    await store.facts.forget_scope(scope)
    of_scope = "MATCH (n) WHERE n.id = $scope OR n.scope = $scope RETURN n.id AS id"
    assert await store.graph.read(scope, of_scope) == []


def resolved(facts: Sequence[FactRecord]) -> list[FactRecord]:
    """The facts as they are when each slot is resolved again."""
    slots: defaultdict[str, list[FactRecord]] = defaultdict(list)
    for fact in facts:
        slots[fact.slot or fact.id].append(fact)
    return [each for records in slots.values() for each in resolve_validity(records)]
