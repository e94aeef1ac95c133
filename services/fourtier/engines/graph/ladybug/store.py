"""LadybugDB: an embedded graph database with Cypher, one file."""

import asyncio
import contextlib
import functools
import importlib
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import ladybug

from fourtier.engines.graph.binding import bound, bound_all
from fourtier.engines.graph.ladybug.interrupting import Transaction
from fourtier.engines.graph.protocol import ConflictError, Parameter, Statement, Value, require_rows
from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.stores import GraphSchema
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
#: What it says of a full disk, and of a transaction that is safe in its log all the same.
_NO_ROOM = "No space left on device"
_COMMITTED = "Transaction committed successfully"
#: What the engine says to the later one of two who create the same node.
_DUPLICATE = "duplicated primary key"


class LadybugGraphStore:
    """A database file. Writes run in one thread, reads in a few others, so that they never wait.

    There is no index but the one on `id` (the engine's others were seen to give wrong answers), so
    any other condition reads the columns that a statement names, in full. What makes statements
    fast (times seen at 50,000 facts of 15 properties):

    - Narrow first, then read by id: `WITH f.id AS wanted MATCH (g:Fact {id: wanted}) RETURN ...`
      reads the long columns of what was found only (6 ms instead of 20). Do not `collect` in
      between: behind it the engine forgets the ORDER BY of a LIMIT, and takes any rows.
    - A relation from nodes that are named by their ids costs little to follow (1 ms), by
      `WHERE r.id IN $ids`; behind an `UNWIND $ids` it reads all there is (28 ms).
    - `UNWIND $rows AS row CREATE (f:Fact {id: row.id}) SET ...` for new nodes and `MATCH ... SET`
      for known ones: a `MERGE` behind an `UNWIND` reads the table (3 ms for 50 rows, not 18).
    """

    def __init__(
        self,
        database: ladybug.Database,
        limit: TimeLimit,
        manifest: Manifest,
        disk: DiskReserve | None = None,
    ) -> None:
        self._database = database
        self._limit = limit
        self._manifest = manifest
        self._disk = disk
        self._damage: UnavailableError | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="graph-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="graph-read")
        self._mine = threading.local()
        self._connections: list[ladybug.Connection] = []

    def _connection(self) -> ladybug.Connection:
        """The connection of the running thread."""
        connection: ladybug.Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
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
        return await self._run(self._writer, "BEGIN TRANSACTION", bound_all(scope, statements))

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
            _commit(connection)
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
                await self.execute(functools.partial(_read_through, text=text))
        except (UnicodeDecodeError, RuntimeError) as error:
            self._damage = self._manifest.damaged(error)
            raise StartupError(str(self._damage)) from error

    async def execute(self, work: Callable[[ladybug.Connection], R]) -> R:
        """Run work that cannot be part of a transaction, in the writer's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, lambda: work(self._connection()))

    def close(self) -> None:
        """Wait for what runs, then close the file."""
        self._readers.shutdown()
        self._writer.shutdown()
        for connection in self._connections:
            connection.close()
        self._database.close()


def _commit(connection: ladybug.Connection) -> None:
    """Commit. The transaction is on disk also where moving its log into the file fails."""
    try:
        connection.execute("COMMIT")
    except RuntimeError as error:
        if not str(error).startswith(_COMMITTED):
            raise
        log.warning("The graph cannot move its log into its file: %s", error)


def _checked(connection: ladybug.Connection, statement: Statement) -> list[dict[str, Value]]:
    try:
        rows = read_rows(connection, statement.text, statement.parameters)
    except RuntimeError as error:
        if _DUPLICATE in str(error):
            raise ConflictError(str(error)) from error
        raise
    require_rows(statement, rows)
    return rows


def _read_through(connection: ladybug.Connection, text: str) -> None:
    """Read rows one by one and forget them."""
    result = connection.execute(text)
    if isinstance(result, list):
        raise TypeError(f"one statement at a time, not: {text}")
    with result:
        for _ in result:
            pass


def read_rows(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, Parameter]
) -> list[dict[str, Value]]:
    """Run one statement; a dict for each row."""
    ready = {name: _in_order(value) for name, value in parameters.items()}
    result = connection.execute(text, ready)
    if isinstance(result, list):
        raise TypeError(f"one statement at a time, not: {text}")
    with result:
        names = result.get_column_names()
        return [dict(zip(names, row, strict=True)) for row in result]


def _in_order(value: Parameter) -> Any:
    """A list of rows with their keys in one order: the engine takes them by position."""
    if isinstance(value, str | int | float):
        return value
    return [dict(sorted(each.items())) if isinstance(each, Mapping) else each for each in value]
