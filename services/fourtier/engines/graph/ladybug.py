"""LadybugDB: an embedded graph database with Cypher, one file."""

import asyncio
import contextlib
import importlib
import logging
import shutil
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import ladybug

from fourtier.engines.graph.binding import bound, bound_all
from fourtier.engines.graph.protocol import ConflictError, Parameter, Statement, Value, require_rows
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.stores import GraphSchema, Node, Relation
from fourtier.schema.message import Scope

# LadybugDB would load its library with symbols that all later libraries see: llama.cpp's then takes
# them for its own and aborts. Loaded here before, it keeps its symbols to itself.
importlib.import_module("ladybug._lbug")

log = logging.getLogger(__name__)

R = TypeVar("R")

#: Readers beside the one writer.
_READERS = 2
#: The database takes what it needs up to this; its default would be most of the machine.
_BUFFER_BYTES = 256 * 1024 * 1024
#: What the engine says to the later one of two who create the same node.
_IS_THERE = "duplicated primary key"
#: What a property holds in nodes that are older than the property.
_DEFAULTS = {"STRING": "''", "INT64": "0", "DOUBLE": "0.0", "BOOL": "false"}


class LadybugGraphStore:
    """A database file. Writes run in one thread, reads in a few others, so that they never wait.

    There is no index but the one on `id` (the engine's others were seen to give wrong answers), so
    any other condition reads the columns that a statement names, in full. What keeps statements
    fast (times seen at 50,000 facts of 15 properties):

    - Narrow first, then read by id: `WITH f.id AS wanted MATCH (g:Fact {id: wanted}) RETURN ...`
      reads the long columns of what was found only (6 ms instead of 20). Do not `collect` in
      between: behind it the engine forgets the ORDER BY of a LIMIT, and takes any rows.
    - A relation from nodes that are named by their ids costs little to follow (1 ms), by
      `WHERE r.id IN $ids`; behind an `UNWIND $ids` it reads all there is (28 ms).
    - `UNWIND $rows AS row CREATE (f:Fact {id: row.id}) SET ...` for new nodes and `MATCH ... SET`
      for known ones: a `MERGE` behind an `UNWIND` reads the table (3 ms for 50 rows, not 18).
    """

    def __init__(self, database: ladybug.Database) -> None:
        self._database = database
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
        """Run one statement that changes nothing; a dict for each row."""
        statement = Statement(text, bound(scope, text, parameters))
        return (await self._run(self._readers, "BEGIN TRANSACTION READ ONLY", [statement]))[0]

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns."""
        return await self._run(self._writer, "BEGIN TRANSACTION", bound_all(scope, statements))

    async def _run(
        self, executor: ThreadPoolExecutor, begin: str, statements: list[Statement]
    ) -> list[list[dict[str, Value]]]:
        def transact() -> list[list[dict[str, Value]]]:
            connection = self._connection()
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

        return await asyncio.get_running_loop().run_in_executor(executor, transact)

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


def _checked(connection: ladybug.Connection, statement: Statement) -> list[dict[str, Value]]:
    try:
        rows = _rows(connection, statement.text, statement.parameters)
    except RuntimeError as error:
        if _IS_THERE in str(error):
            raise ConflictError(str(error)) from error
        raise
    require_rows(statement, rows)
    return rows


def _rows(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, Parameter]
) -> list[dict[str, Value]]:
    ready = {name: _in_order(value) for name, value in parameters.items()}
    result = connection.execute(text, ready)
    if isinstance(result, list):
        raise TypeError(f"one statement at a time, not: {text}")
    with result:
        names = result.get_column_names()
        return [dict(zip(names, row, strict=True)) for row in result]


def _in_order(value: Parameter) -> Any:
    """A list of rows with their keys in one order: the engine takes them by their places."""
    if isinstance(value, str | int | float):
        return value
    return [dict(sorted(each.items())) if isinstance(each, Mapping) else each for each in value]


def _adapt(connection: ladybug.Connection, schema: GraphSchema) -> None:
    """Create what the schema names and is not there; a file of an older release has less."""
    for node in schema.nodes:
        connection.execute(_create_node(node))
        known = {
            row["name"]
            for row in _rows(connection, f"CALL table_info('{node.label}') RETURN *", {})
        }
        for name, kind in node.properties.items():
            if name not in known:
                connection.execute(
                    f"ALTER TABLE {node.label} ADD {name} {kind} DEFAULT {_DEFAULTS[kind]}"
                )
    for relation in schema.relations:
        connection.execute(_create_relation(relation))


def _create_node(node: Node) -> str:
    columns = ", ".join(f"{name} {kind}" for name, kind in node.properties.items())
    return f"CREATE NODE TABLE IF NOT EXISTS {node.label}({columns}, PRIMARY KEY(id))"


def _create_relation(relation: Relation) -> str:
    return (
        f"CREATE REL TABLE IF NOT EXISTS {relation.label}(FROM {relation.start} TO {relation.end})"
    )


def _opened(file: Path) -> ladybug.Database:
    """Open the file. A transaction that was cut off while it was written is left out.

    A disk that was full leaves half a transaction at the end of the log, and the database does not
    open then; what it says depends on where the log ends. That transaction was never confirmed; the
    log is kept beside the file all the same.
    """
    log_file = file.with_name(f"{file.name}.wal")
    try:
        return ladybug.Database(str(file), buffer_pool_size=_BUFFER_BYTES)
    except RuntimeError as error:
        if "lock" in str(error) or not log_file.exists():
            raise
    kept = file.with_name(f"{log_file.name}.torn-{time.time_ns()}")
    shutil.copyfile(log_file, kept)
    log.error(
        "The last transaction of the graph %s was cut off, as by a full disk; it was never "
        "confirmed and is left out. Its log is kept in %s.",
        file,
        kept,
    )
    return ladybug.Database(
        str(file), buffer_pool_size=_BUFFER_BYTES, throw_on_wal_replay_failure=False
    )


@asynccontextmanager
async def open_ladybug(file: Path, schema: GraphSchema) -> AsyncGenerator[LadybugGraphStore]:
    """Open or create the database file with a service's schema.

    Raises:
        StartupError: another process has the file open, or it cannot be opened at all.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        database = await asyncio.to_thread(_opened, file)
    except (OSError, RuntimeError) as error:
        if "lock" in str(error):
            raise StartupError(
                f"the graph {file} is in use by another process: stop that one first"
            ) from error
        raise StartupError(f"the graph {file} cannot be opened: {error}") from error
    store = LadybugGraphStore(database)
    try:
        await store.execute(lambda connection: _adapt(connection, schema))
        yield store
    finally:
        await asyncio.to_thread(store.close)
