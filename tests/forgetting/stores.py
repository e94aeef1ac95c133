"""The two embedded stores as a scan sees them: texts by name, written, replaced and deleted.

Run as a script it deletes and rewrites for ever, to be killed: `stores.py graph DIRECTORY`.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from fourtier.engines.erasing import DEFAULT_SCHEDULE, ErasureSchedule
from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.service.stores.graph import GraphStore, Statement
from fourtier.runtime.service.stores.schemas import Fields, GraphSchema, Node, Relation
from fourtier.runtime.service.stores.vectors import Point, VectorStore
from fourtier.schema.message import Scope, Vector

ANN = Scope("ann", "default")
SCHEMA = GraphSchema(
    nodes=[Node("Note", {"id": "STRING", "scope": "STRING", "text": "STRING"})],
    relations=[Relation("FOLLOWS", "Note", "Note")],
)
#: Nothing is rewritten by itself while a test looks.
ON_DEMAND = ErasureSchedule(rest=3_600, overdue=3_600)
AT_ONCE = ErasureSchedule(rest=0, overdue=0, pause_factor=0, retry=0)
_WRITE = """
UNWIND $rows AS row
CREATE (n:Note {id: row.id}) SET n.scope = $scope, n.text = row.text
"""
_READ = "MATCH (n:Note) WHERE n.scope = $scope RETURN n.id AS id, n.text AS text"
_REPLACE = "MATCH (n:Note {id: $id}) WHERE n.scope = $scope SET n.text = $text"
_DELETE = "MATCH (n:Note) WHERE n.scope = $scope AND n.id IN $ids DETACH DELETE n"


class Texts(Protocol):
    """A store of texts by name."""

    async def write(self, texts: Mapping[str, str]) -> None:
        """Store texts under new names."""
        ...

    async def replace(self, name: str, text: str) -> None:
        """Store another text under a name."""
        ...

    async def delete(self, names: Iterable[str]) -> None:
        """Delete texts."""
        ...

    async def read(self) -> dict[str, str]:
        """All texts by name."""
        ...

    async def erase(self) -> object:
        """Remove what is not there any more from the disk."""
        ...


class VectorTexts:
    """Texts in payloads of Qdrant Edge."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    async def write(self, texts: Mapping[str, str]) -> None:
        points = [
            Point.of(name, Vector.of([1, number, 0, 0]), text, {"text": text, "kind": text})
            for number, (name, text) in enumerate(texts.items())
        ]
        await self._store.upsert(ANN, points)

    async def replace(self, name: str, text: str) -> None:
        await self.write({name: text})

    async def delete(self, names: Iterable[str]) -> None:
        await self._store.delete(ANN, list(names))

    async def read(self) -> dict[str, str]:
        hits = await self._store.scroll(ANN, 100_000)
        return {hit.id: hit.payload["text"] for hit in hits}

    async def erase(self) -> object:
        return await self._store.erase()


class GraphTexts:
    """Texts in nodes of LadybugDB."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    async def write(self, texts: Mapping[str, str]) -> None:
        rows = [{"id": name, "text": text} for name, text in texts.items()]
        await self._store.write(ANN, Statement(_WRITE, {"rows": rows}))

    async def replace(self, name: str, text: str) -> None:
        await self._store.write(ANN, Statement(_REPLACE, {"id": name, "text": text}))

    async def delete(self, names: Iterable[str]) -> None:
        await self._store.write(ANN, Statement(_DELETE, {"ids": list(names)}))

    async def read(self) -> dict[str, str]:
        rows = await self._store.read(ANN, _READ)
        return {str(row["id"]): str(row["text"]) for row in rows}

    async def erase(self) -> object:
        return await self._store.erase()


@asynccontextmanager
async def opened(
    engine: str, directory: Path, schedule: ErasureSchedule = DEFAULT_SCHEDULE
) -> AsyncGenerator[Texts]:
    """The store of an engine, `vectors` or `graph`, in a directory."""
    if engine == "vectors":
        async with open_edge(directory / "shard", 4, Fields(["kind"]), erasure=schedule) as vectors:
            yield VectorTexts(vectors)
    else:
        async with open_ladybug(directory / "graph.lbug", SCHEMA, erasure=schedule) as graph:
            yield GraphTexts(graph)


async def _rewrite_for_ever(engine: str, directory: Path) -> None:
    """Two texts of each three stay; each line names those that do."""
    async with opened(engine, directory, ON_DEMAND) as texts:
        number = 0
        while True:
            names = [f"t{number + index}" for index in range(3)]
            await texts.write({name: f"text {name}" for name in names})
            await texts.delete(names[:1])
            sys.stdout.write(" ".join(names[1:]) + "\n")
            sys.stdout.flush()
            await texts.erase()
            number += 3


if __name__ == "__main__":
    asyncio.run(_rewrite_for_ever(sys.argv[1], Path(sys.argv[2])))
