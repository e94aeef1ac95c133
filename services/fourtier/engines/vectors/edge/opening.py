"""Opening a shard of Qdrant Edge, and closing it again."""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import qdrant_edge as edge

from fourtier.engines.erasing import DEFAULT_SCHEDULE, ErasureSchedule
from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest
from fourtier.engines.replacing import finish_replacing, remove_leftovers
from fourtier.engines.vectors.edge.shard import ShardLayout
from fourtier.engines.vectors.edge.store import EdgeVectorStore, is_panic
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.service.stores.schemas import Fields


@asynccontextmanager
async def open_edge(
    directory: Path,
    dimensions: int,
    fields: Fields,
    *,
    rebuild: str | None = None,
    disk: DiskReserve | None = None,
    query_seconds: float = QUERY_SECONDS,
    erasure: ErasureSchedule = DEFAULT_SCHEDULE,
) -> AsyncGenerator[EdgeVectorStore]:
    """Open or create the shard in `directory`, with an index on each of the payload fields.

    Args:
        directory: of the shard alone.
        dimensions: of the dense vectors.
        fields: of its points.
        rebuild: the command that makes the vectors again; None where they are nowhere else.
        disk: the room that is left free.
        query_seconds: how long a call may take.
        erasure: when the shard is rewritten without what was deleted.

    Raises:
        StartupError: another process has the shard open, it has vectors of other dimensions, the
            directory cannot be used, or the vectors are missing or damaged.
    """
    loop = asyncio.get_running_loop()
    manifest = Manifest("the vector store", directory, rebuild)
    sound = await asyncio.to_thread(_check, manifest)
    limit = TimeLimit(f"the vector store {directory}", query_seconds)
    layout = ShardLayout(directory, dimensions, fields)
    with ThreadPoolExecutor(1, thread_name_prefix=f"edge-{directory.name}") as executor:
        shard = await loop.run_in_executor(executor, _open, manifest, layout)
        store = EdgeVectorStore(
            shard, layout, executor, limit=limit, manifest=manifest, disk=disk, erasure=erasure
        )
        try:
            if not sound:
                await store.verify()
            await asyncio.to_thread(manifest.opened)
            async with store.eraser.running():
                yield store
        finally:
            await store.close()
    if not store.damaged:
        await asyncio.to_thread(manifest.closed)


def _check(manifest: Manifest) -> bool:
    finish_replacing(manifest.path)
    sound = manifest.check()
    manifest.opening()
    return sound


def _open(manifest: Manifest, layout: ShardLayout) -> edge.EdgeShard:
    try:
        shard = layout.open()
    except BaseException as error:
        # The engine raises nothing more special, and its panics are not Exceptions.
        if not is_panic(error) and not isinstance(error, Exception):
            raise
        raise StartupError(_reason(manifest, layout.dimensions, str(error))) from error
    remove_leftovers(layout.directory)
    return shard


def _reason(manifest: Manifest, dimensions: int, error: str) -> str:
    directory = manifest.path
    if "WouldBlock" in error:
        return f"the vectors in {directory} are in use by another process: stop that one first"
    if "expected vector size" in error:
        return (
            f"the vectors in {directory} were made by another embedding model than the flow's, "
            f"whose vectors have {dimensions} dimensions: name the model that made them, or move "
            f"the directory away to begin anew ({error})"
        )
    return f"the vectors in {directory} cannot be opened: {error}. {manifest.remedy()}"
