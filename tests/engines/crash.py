"""Writers that are killed with -9: run as a script they write for ever, and say what they wrote."""

import asyncio
import sys
from pathlib import Path

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import Fields, GraphSchema, Node, Relation
from fourtier.runtime.service.stores.vectors import Point
from fourtier.schema.message import Scope, Vector

SCOPE = Scope("ann", "default")
SCHEMA = GraphSchema(
    nodes=[Node("Fact", {"id": "STRING", "scope": "STRING", "content": "STRING"})],
    relations=[Relation("AFTER", "Fact", "Fact")],
)
_BATCH = 10


async def written_until_killed(engine: str, path: Path, after: int) -> list[str]:
    """Ids of all that was written for sure by a process that was killed while it wrote on."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, engine, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    lines = [await process.stdout.readline() for _ in range(after)]
    process.kill()
    rest, _ = await process.communicate()
    # The last line may be cut short; what it names was written nevertheless.
    written = (b"".join(lines) + rest).rpartition(b"\n")[0].decode().split()
    assert len(written) >= after * _BATCH
    return written


async def _write_vectors(directory: Path) -> None:
    async with open_edge(directory, 4, Fields(["kind"])) as store:
        number = 0
        while True:
            ids = [f"p{number + index}" for index in range(_BATCH)]
            vector = Vector.of([1, number, 0, 0])
            await store.upsert(SCOPE, [Point.of(each, vector, f"number {each}") for each in ids])
            _say(ids)
            number += _BATCH


async def _write_graph(file: Path) -> None:
    async with open_ladybug(file, SCHEMA) as store:
        number = 0
        while True:
            ids = [f"p{number + index}" for index in range(_BATCH)]
            rows = [{"id": each, "before": f"p{number - 1}"} for each in ids]
            await store.write(
                SCOPE,
                Statement(
                    "UNWIND $rows AS row CREATE (f:Fact {id: row.id}) "
                    "SET f.scope = $scope, f.content = 'a fact'",
                    {"rows": rows},
                ),
                Statement(
                    "UNWIND $rows AS row MATCH (f:Fact {id: row.id}), (b:Fact {id: row.before}) "
                    "WHERE f.scope = $scope CREATE (f)-[:AFTER]->(b)",
                    {"rows": rows},
                ),
            )
            _say(ids)
            number += _BATCH


def _say(ids: list[str]) -> None:
    sys.stdout.write(" ".join(ids) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    writer = {"vectors": _write_vectors, "graph": _write_graph}[sys.argv[1]]
    asyncio.run(writer(Path(sys.argv[2])))
