"""LadybugDB: an embedded graph database with Cypher, one file."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import ladybug

from fourtier.engines.graph.protocol import (
    GraphSchema,
    Node,
    Parameter,
    Relation,
    Statement,
    Value,
)
from fourtier.runtime.errors import StartupError
from fourtier.schema.message import Scope

R = TypeVar("R")

#: Readers beside the one writer.
_READERS = 2
#: The database takes what it needs up to this; its default would be most of the machine.
_BUFFER_BYTES = 256 * 1024 * 1024


class LadybugGraphStore:
    """A database file. Writes run in one thread, reads in a few others, so that they never wait."""

    def __init__(self, database: ladybug.Database) -> None:
        self._database = database
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="graph-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="graph-read")
        self._connections = threading.local()

    def _connection(self) -> ladybug.Connection:
        connection: ladybug.Connection | None = getattr(self._connections, "mine", None)
        if connection is None:
            connection = ladybug.Connection(self._database)
            self._connections.mine = connection
        return connection

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement that changes nothing; a dict for each row."""
        bound = _bound(scope, text, parameters)
        return await self._run(self._readers, lambda: _rows(self._connection(), text, bound))

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns."""
        return await self._run(self._writer, lambda: self._write(scope, statements))

    def _write(
        self, scope: Scope | None, statements: tuple[Statement, ...]
    ) -> list[list[dict[str, Value]]]:
        connection = self._connection()
        connection.execute("BEGIN TRANSACTION")
        try:
            results = [
                _rows(connection, each.text, _bound(scope, each.text, each.parameters))
                for each in statements
            ]
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return results

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(executor, work)

    def close(self) -> None:
        """Wait for what runs, then close the file."""
        self._readers.shutdown()
        self._writer.shutdown()
        self._database.close()


def _bound(scope: Scope | None, text: str, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Parameters with the scope, for a database that refuses those that a text does not name."""
    bound: dict[str, Any] = dict(parameters)
    if scope is not None and "$scope" in text:
        bound["scope"] = scope.key
    return bound


def _rows(
    connection: ladybug.Connection, text: str, parameters: dict[str, Any]
) -> list[dict[str, Value]]:
    result = connection.execute(text, parameters)
    if isinstance(result, list):
        raise TypeError("one statement at a time")
    names = result.get_column_names()
    return [dict(zip(names, row, strict=True)) for row in result]


def _create_node(node: Node) -> str:
    columns = ", ".join(f"{name} {kind}" for name, kind in node.properties.items())
    return f"CREATE NODE TABLE IF NOT EXISTS {node.label}({columns}, PRIMARY KEY(id))"


def _create_relation(relation: Relation) -> str:
    return (
        f"CREATE REL TABLE IF NOT EXISTS {relation.label}(FROM {relation.start} TO {relation.end})"
    )


@asynccontextmanager
async def open_ladybug(file: Path, schema: GraphSchema) -> AsyncGenerator[LadybugGraphStore]:
    """Open or create the database file with a service's schema.

    Raises:
        StartupError: another process has the file open.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        database = await asyncio.to_thread(
            ladybug.Database, str(file), buffer_pool_size=_BUFFER_BYTES
        )
    except RuntimeError as error:
        if "lock" in str(error):
            raise StartupError(f"{file} is in use by another process: {error}") from error
        raise
    store = LadybugGraphStore(database)
    try:
        for statement in [
            *map(_create_node, schema.nodes),
            *map(_create_relation, schema.relations),
        ]:
            await store.write(None, Statement(statement))
        yield store
    finally:
        await asyncio.to_thread(store.close)
