"""A fact store for tests: real engines, and an embedding that needs no model."""

import hashlib
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.memory.facts.graph import SCHEMA, ScopedFact
from fourtier.memory.facts.index import COLLECTION
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.store import FactStore
from fourtier.runtime.service.stores.graph import GraphStore, Statement, Value
from fourtier.runtime.service.stores.known_ids import KnownIds
from fourtier.runtime.service.stores.query import Leg, Where
from fourtier.runtime.service.stores.vectors import Facet, Hit, Point, VectorStore
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Scope, Vector

ANN = Scope("ann", "default")
BOB = Scope("bob", "default")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


class BrokenError(Exception):
    """What a store raises where a test wants it to."""


@dataclass
class Embedder:
    """Vectors made from the text's hash; counts what it is asked."""

    dimensions: int = 16
    calls: list[Sequence[str]] = field(default_factory=list)

    async def __call__(self, texts: Sequence[str]) -> list[Vector]:
        self.calls.append(texts)
        return [self.of(text) for text in texts]

    def of(self, text: str) -> Vector:
        """The same vector for the same text."""
        chance = random.Random(hashlib.sha256(text.encode()).digest())  # noqa: S311 - no secret
        return Vector.of(chance.gauss(0, 1) for _ in range(self.dimensions))


@dataclass
class Vectors:
    """Real vectors; what is to happen `before` they change, a test can say.

    Attributes:
        fail_before: the method that is to fail.
    """

    real: VectorStore
    fail_before: str = ""

    async def before(self, method: str) -> None:
        """Called by each method that changes something, with its name."""
        if method == self.fail_before:
            raise BrokenError(method)

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        await self.before("upsert")
        await self.real.upsert(scope, points)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        await self.before("delete")
        return await self.real.delete(scope, ids)

    async def delete_scope(self, scope: Scope) -> int:
        await self.before("delete_scope")
        return await self.real.delete_scope(scope)

    async def query(
        self, scope: Scope, legs: Sequence[Leg], limit: int, where: Where = (), **how: Any
    ) -> list[Hit]:
        return await self.real.query(scope, legs, limit, where, **how)

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        return await self.real.get(scope, ids)

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        return await self.real.scroll(scope, limit, after)

    async def count(self, scope: Scope | None = None, where: Where = ()) -> int:
        return await self.real.count(scope, where)

    async def facet(self, scope: Scope, field: str, limit: int, where: Where = ()) -> list[Facet]:
        return await self.real.facet(scope, field, limit, where)


@dataclass
class Graph:
    """A real graph that counts transactions."""

    real: GraphStore
    writes: int = 0

    @property
    def known_ids(self) -> KnownIds:
        return self.real.known_ids

    async def read(
        self, scope: Scope | None, text: str, **parameters: Any
    ) -> list[dict[str, Value]]:
        return await self.real.read(scope, text, **parameters)

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        self.writes += 1
        return await self.real.write(scope, *statements)


@dataclass
class Opened:
    """A fact store and what it stands on."""

    facts: FactStore
    graph: Graph
    vectors: Vectors
    embedder: Embedder

    async def say(self, content: str, hours: int = 1, scope: Scope = ANN, **fields: Any) -> str:
        """Store one fact; returns its id."""
        (stored,) = await self.facts.store([said(content, hours, scope, **fields)])
        return stored.id

    async def found(self, query: str, scope: Scope = ANN, *, superseded: bool = False) -> list[str]:
        """The contents of what a search finds, best first."""
        hits = await self.facts.search(scope, query, None, 20, superseded=superseded)
        return [fact.content for fact, _ in hits]

    async def nodes(self) -> int:
        """How many nodes the graph has of whatever scope, besides tombstones."""
        counted = [
            await self.graph.read(None, f"MATCH (n:{label}) RETURN count(n) AS number")
            for label in ("Fact", "FactVersion", "FactReplacement")
        ]
        return sum(int(rows[0]["number"]) for rows in counted)


def at(hours: float) -> datetime:
    """Some hours after Monday morning."""
    return MONDAY + timedelta(hours=hours)


def said(content: str, hours: int = 1, scope: Scope = ANN, **fields: Any) -> ScopedFact:
    """A fact that was stated some hours after Monday morning."""
    request = StoreFactRequest(
        user=scope.user,
        collection=scope.collection,
        content=content,
        timestamp=MONDAY + timedelta(hours=hours),
        **fields,
    )
    return ScopedFact(scope, FactRecord.from_request(request, MONDAY))


@asynccontextmanager
async def opened(
    directory: Path,
    dimensions: int = 16,
    opening: AbstractAsyncContextManager[GraphStore] | None = None,
) -> AsyncGenerator[Opened]:
    """Open a store in a directory, as the service does, or on the graph that `opening` opens."""
    shard = directory / f"vectors-{dimensions}"
    async with (
        opening or open_ladybug(directory / "graph.lbug", SCHEMA) as graph,
        open_edge(shard, dimensions, COLLECTION.fields) as edge,
    ):
        real, vectors, embedder = Graph(graph), Vectors(edge), Embedder(dimensions)
        yield Opened(FactStore(real, vectors, embedder), real, vectors, embedder)
