"""LadybugDB: an embedded graph database with Cypher, one file."""

import asyncio
import contextlib
import functools
import importlib
import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import ladybug

from fourtier.engines.erasing import DEFAULT_SCHEDULE, Eraser, ErasureSchedule
from fourtier.engines.graph.binding import bound, bound_all
from fourtier.engines.graph.ladybug.copying import copy_database
from fourtier.engines.graph.ladybug.files import log_bytes, log_of, open_database
from fourtier.engines.graph.ladybug.interrupting import Transaction
from fourtier.engines.graph.ladybug.pausing import paused
from fourtier.engines.graph.ladybug.rows import read_rows, read_through
from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest, has_content
from fourtier.engines.replacing import draft_of, remove_leftovers, replace_file
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.graph import (
    ConflictError,
    Parameter,
    Statement,
    Value,
    require_rows,
)
from fourtier.runtime.service.stores.known_ids import KnownIds
from fourtier.runtime.service.stores.schemas import GraphSchema
from fourtier.schema.message import Scope

# LadybugDB would load its library with symbols that all later libraries see: llama.cpp's then takes
# them for its own and aborts. Loaded here before, its symbols stay private.
importlib.import_module("ladybug._lbug")

log = logging.getLogger(__name__)

R = TypeVar("R")

#: Readers beside the one writer.
_READERS = 2
#: What the engine says of pages that cannot be what it has written.
_DAMAGE = ("out of bounds for file", "orrupt")
#: What it says of a full disk.
_NO_ROOM = "No space left on device"
_DELETES = re.compile(r"\bDELETE\b", re.IGNORECASE)
#: What the engine says to the later one of two who create the same node.
_DUPLICATE = "duplicated primary key"
#: A log of this size holds about 8,000 properties. Until a checkpoint each of them takes 8.5 KiB of
#: the buffer: 67 of its 256 MiB.
_LOG_BYTES = 1024 * 1024


class LadybugGraphStore:
    """A database file. Writes run in one thread, reads in a few others, so that they never wait.

    There is no index but the one on `id` (the engine's others were seen to give wrong answers), so
    any other condition reads the columns that a statement names, in full. What makes statements
    fast (times seen at 50,000 nodes of 15 properties):

    - Narrow first, then read by id: `WITH a.id AS wanted MATCH (b:Thing {id: wanted}) RETURN ...`
      reads the long columns of what was found only (6 ms instead of 20). Do not `collect` in
      between: behind it the engine forgets the ORDER BY of a LIMIT, and takes any rows.
    - A relation from nodes that are named by their ids costs little to follow (1 ms), by
      `WHERE r.id IN $ids`; behind an `UNWIND $ids` it reads all there is (28 ms). Two nodes want a
      MATCH each, with a WITH between: in one MATCH the engine reads both tables.
    - `UNWIND $rows AS row CREATE (a:Thing {id: row.id}) SET ...` for new nodes and `MATCH ... SET`
      for known ones: a `MERGE` behind an `UNWIND` reads the table (3 ms for 50 rows, not 18).

    Whatever is deleted stays in pages of the file that are free, until the file is rewritten
    (`erase`): a checkpoint was seen to leave it there, also where it had been set to '' before. A
    statement that deletes has the file rewritten some time later. Writes wait meanwhile (4 s at
    50,000 facts), reads only while the files are changed over.

    The engine holds 8.5 KiB of its buffer for each property that was set since the last checkpoint,
    and fails when the buffer is full. A checkpoint beside a reader changes rows that were stored
    before, and ends the process. So a checkpoint runs in the writer's thread, behind a write that
    makes the log long, while all readers are paused.
    """

    def __init__(
        self,
        database: ladybug.Database,
        limit: TimeLimit,
        manifest: Manifest,
        disk: DiskReserve | None = None,
        *,
        erasure: ErasureSchedule = DEFAULT_SCHEDULE,
    ) -> None:
        self.eraser = Eraser(manifest, self._rewrite, erasure)
        self.known_ids = KnownIds(self._ids)
        self._database = database
        self._limit = limit
        self._manifest = manifest
        self._disk = disk
        self._damage: UnavailableError | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="graph-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="graph-read")
        self._mine = threading.local()
        self._connections: list[ladybug.Connection] = []
        self._checkpoint_at = _LOG_BYTES

    def _connection(self) -> ladybug.Connection:
        """The connection of the running thread, to the file of this time."""
        connection: ladybug.Connection | None = getattr(self._mine, "connection", None)
        if connection is None or connection not in self._connections:
            connection = ladybug.Connection(self._database)
            self._mine.connection = connection
            self._connections.append(connection)
        return connection

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement that changes nothing; a dict for each row.

        Raises:
            UnavailableError: it takes longer than the time limit, or the file is damaged.
        """
        statement = Statement(text, bound(scope, text, parameters))
        return (await self._run(self._readers, "BEGIN TRANSACTION READ ONLY", [statement]))[0]

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns.

        Raises:
            UnavailableError: as `read`, or the disk is nearly full; nothing is written then, unless
                the commit itself hangs.
        """
        if self._disk is not None:
            self._disk.check_write()
        ready = bound_all(scope, statements)
        async with self.eraser.writing(deletes=any(_DELETES.search(each.text) for each in ready)):
            results = await self._run(self._writer, "BEGIN TRANSACTION", ready)
            with contextlib.suppress(RuntimeError):  # the store closes, which checkpoints too
                self._writer.submit(self._checkpoint_when_due)
            return results

    def _checkpoint_when_due(self) -> None:
        if log_bytes(self._manifest.path) >= self._checkpoint_at:
            self._try_checkpoint()

    def _try_checkpoint(self) -> None:
        """Move the log into the file while nobody reads; only for the writer's thread.

        A failure loses nothing, because all is in the log. It is logged, and the next attempt waits
        until the log has grown by as much again.
        """
        try:
            if self._disk is not None:
                self._disk.check_write()
            with paused(self._readers, _READERS):
                self._connection().execute("CHECKPOINT")
        except (OSError, RuntimeError, UnavailableError) as error:
            self._checkpoint_at = log_bytes(self._manifest.path) + _LOG_BYTES
            log.warning(
                "The graph %s cannot move its log into its file: %s. It tries again behind a later "
                "write.",
                self._manifest.path,
                error,
            )
        else:
            self._checkpoint_at = _LOG_BYTES

    async def _ids(self, label: str) -> list[str]:
        rows = await self.read(None, f"MATCH (n:{label}) RETURN n.id AS id")
        return [str(row["id"]) for row in rows]

    async def erase(self) -> tuple[Remainder, ...]:
        """Copy the graph into a new file; afterwards nothing of what was deleted remains.

        Raises:
            UnavailableError: there is no room for a copy, or a query takes too long to wait for it.
        """
        await self.eraser.erase()
        return ()

    async def _rewrite(self) -> None:
        if self._damage is not None:
            raise self._damage
        if self._disk is not None:
            self._disk.check_write()
        await self.execute(self._rewrite_in_thread)

    def _rewrite_in_thread(self, connection: ladybug.Connection) -> None:
        file = self._manifest.path
        remove_leftovers(file)
        try:
            copy_database(connection, draft_of(file), file.name)
            with paused(self._readers, _READERS):
                connection.execute("CHECKPOINT")
                self._change_over(file)
                self._checkpoint_at = _LOG_BYTES
        finally:
            remove_leftovers(file)

    def _change_over(self, file: Path) -> None:
        """Close the file, put the copy in its place, and open that."""
        self._close_file()
        try:
            # The log of the old file must never be taken for the new one's.
            if has_content(log_of(file)):
                raise UnavailableError(f"the log of {file} could not be moved into it")
            replace_file(file)
            for torn in file.parent.glob(f"{log_of(file).name}.torn-*"):
                torn.unlink()  # it too has what was deleted
        finally:
            try:
                self._database = open_database(file)
            except RuntimeError as error:
                self._damage = self._manifest.damaged(error)
                raise self._damage from error

    async def _run(
        self, executor: ThreadPoolExecutor, begin: str, statements: list[Statement]
    ) -> list[list[dict[str, Value]]]:
        def transact(connection: ladybug.Connection) -> list[list[dict[str, Value]]]:
            connection.execute(begin)
            try:
                results = [_checked(connection, each) for each in statements]
            except BaseException:
                # After an error of its own the engine has rolled back already, and says so.
                with contextlib.suppress(RuntimeError):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return results

        if self._damage is not None:
            # What is written now would be lost when the file is restored from a backup.
            raise self._damage
        try:
            return await Transaction(self._connection, transact).run(executor, self._limit)
        except (UnicodeDecodeError, RuntimeError) as error:
            if _NO_ROOM in str(error):
                raise UnavailableError(f"{self._limit.store} cannot be written: {error}") from error
            if isinstance(error, RuntimeError) and not any(map(str(error).__contains__, _DAMAGE)):
                raise
            self._damage = self._manifest.damaged(error)
            raise self._damage from error

    @property
    def damaged(self) -> bool:
        """Whether the file turned out to be damaged."""
        return self._damage is not None

    async def verify(self, schema: GraphSchema) -> None:
        """Read all there is, as after a crash: a second for 50,000 facts.

        Raises:
            StartupError: something cannot be read.
        """
        try:
            for node in schema.nodes:
                columns = ", ".join(f"n.{name}" for name in node.properties)
                text = f"MATCH (n:{node.label}) RETURN {columns}"
                await self.execute(functools.partial(read_through, text=text))
        except (UnicodeDecodeError, RuntimeError) as error:
            self._damage = self._manifest.damaged(error)
            raise StartupError(str(self._damage)) from error

    async def execute(self, work: Callable[[ladybug.Connection], R]) -> R:
        """Run work that cannot be part of a transaction, in the writer's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, lambda: work(self._connection()))

    def close(self) -> None:
        """Wait for what runs, checkpoint, then close the file."""
        self._writer.submit(self._try_checkpoint)
        self._writer.shutdown()
        self._readers.shutdown()
        self._close_file()

    def _close_file(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._database.close()


def _checked(connection: ladybug.Connection, statement: Statement) -> list[dict[str, Value]]:
    try:
        rows = read_rows(connection, statement.text, statement.parameters)
    except RuntimeError as error:
        if _DUPLICATE in str(error):
            raise ConflictError(str(error)) from error
        raise
    require_rows(statement, rows)
    return rows
