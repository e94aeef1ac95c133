"""Writers that fill a disk: run as a script they write until the store says that it is full."""

import asyncio
import sys
from pathlib import Path

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.stores.schemas import Fields
from tests.engines.graph_contract import ANN, SCHEMA, create, row
from tests.engines.vectors_contract import DIMENSIONS, point

_BATCHES = 10_000
_BATCH = 20


async def _fill_vectors(directory: Path, disk: DiskReserve) -> None:
    async with open_edge(directory / "shard", DIMENSIONS, Fields(), disk=disk) as store:
        for batch in range(_BATCHES):
            points = [point(f"{batch} {n}", kind=f"{batch} {n}" * 2_000) for n in range(_BATCH)]
            await store.upsert(ANN, points)


async def _fill_graph(directory: Path, disk: DiskReserve) -> None:
    async with open_ladybug(directory / "graph.lbug", SCHEMA, disk=disk) as store:
        for batch in range(_BATCHES):
            rows = [row(f"{batch} {n}", f"{batch} {n}" * 2_000) for n in range(_BATCH)]
            await create(store, *rows)


async def _main(engine: str, directory: Path, reserve: int) -> None:
    fill = {"vectors": _fill_vectors, "graph": _fill_graph}[engine]
    try:
        await fill(directory, DiskReserve(directory, reserve))
    except UnavailableError as error:
        sys.stdout.write(str(error))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
