"""Opening the file of a LadybugDB graph, also one that a full disk has cut off."""

import asyncio
import logging
import shutil
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import ladybug

from fourtier.engines.erasing import DEFAULT_SCHEDULE, ErasureSchedule
from fourtier.engines.graph.ladybug.files import log_of, open_database
from fourtier.engines.graph.ladybug.memory import overwrite_memory
from fourtier.engines.graph.ladybug.schema import create_tables
from fourtier.engines.graph.ladybug.store import LadybugGraphStore
from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest, has_content
from fourtier.engines.replacing import remove_leftovers
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.service.stores.schemas import GraphSchema

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_ladybug(
    file: Path,
    schema: GraphSchema,
    *,
    disk: DiskReserve | None = None,
    query_seconds: float = QUERY_SECONDS,
    erasure: ErasureSchedule = DEFAULT_SCHEDULE,
) -> AsyncGenerator[LadybugGraphStore]:
    """Open or create the database file with a service's schema.

    Raises:
        StartupError: another process has the file open, it is missing although it was there, or it
            is damaged.
    """
    manifest = Manifest("the graph", file)
    sound = await asyncio.to_thread(_check, manifest, schema)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        database = await asyncio.to_thread(_open, file)
        await asyncio.to_thread(remove_leftovers, file)
    except (OSError, RuntimeError) as error:
        if "lock" in str(error):
            raise StartupError(
                f"the graph {file} is in use by another process: stop that one first"
            ) from error
        raise StartupError(
            f"the graph {file} cannot be opened: {error}. If it is damaged, restore it from a "
            f"backup (docs/operating.md)"
        ) from error
    limit = TimeLimit(f"the graph {file}", query_seconds)
    store = LadybugGraphStore(database, limit, manifest, disk, erasure=erasure)
    try:
        await store.execute(lambda connection: create_tables(connection, schema))
        if not sound:
            await store.verify(schema)
        await asyncio.to_thread(manifest.opened)
        async with store.eraser.running():
            yield store
    finally:
        await asyncio.to_thread(store.close)
    if not store.damaged:
        await asyncio.to_thread(manifest.closed)


def _check(manifest: Manifest, schema: GraphSchema) -> bool:
    """As the manifest says; a graph without one is missing where its index is there."""
    file = manifest.path
    if schema.index and not has_content(file) and not manifest.file.exists():
        for index in file.parent.glob(f"vectors-{schema.index}"):
            raise StartupError(
                f"the graph {file} is missing or empty, but its index {index} is there: restore "
                f"it from a backup (docs/operating.md), or move the index away to begin anew"
            )
    sound = manifest.check()
    manifest.opening()
    return sound


def _open(file: Path) -> ladybug.Database:
    """Open the file. A transaction that was cut off while it was written is left out.

    A disk that was full leaves half a transaction at the end of the log, and the database does not
    open then; what it says depends on where the log ends. That transaction was never confirmed; a
    copy of the log stays beside the file all the same.
    """
    overwrite_memory()
    log_file = log_of(file)
    try:
        return open_database(file)
    except RuntimeError as error:
        if "lock" in str(error) or not log_file.exists():
            raise
    copy = file.with_name(f"{log_file.name}.torn-{time.time_ns()}")
    shutil.copyfile(log_file, copy)
    log.error(
        "The last transaction of the graph %s was cut off, as by a full disk; it was never "
        "confirmed and is left out. A copy of its log is %s.",
        file,
        copy,
    )
    return open_database(file, all_of_log=False)
