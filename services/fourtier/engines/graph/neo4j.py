"""Neo4j by its own asynchronous driver."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString, cast

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

from fourtier.engines.graph.binding import bound
from fourtier.engines.graph.protocol import GraphSchema, Parameter, Statement, Value
from fourtier.runtime.errors import StartupError
from fourtier.schema.message import Scope


class Neo4jGraphStore:
    """A database on a server. The driver's managed transactions retry what fails for a moment."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement that changes nothing; a dict for each row."""
        async with self._driver.session() as session:
            return await session.execute_read(_run, text, bound(scope, text, parameters))

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns."""
        ready = [
            Statement(each.text, bound(scope, each.text, each.parameters)) for each in statements
        ]
        async with self._driver.session() as session:
            return await session.execute_write(_run_all, ready)


async def _run(
    transaction: AsyncManagedTransaction, text: str, parameters: Mapping[str, Parameter]
) -> list[dict[str, Value]]:
    # All texts come from our own files; mypy takes LiteralString for str, pyright does not.
    literal = cast("LiteralString", text)  # type: ignore[redundant-cast]
    result = await transaction.run(literal, dict(parameters))
    return await result.data()


async def _run_all(
    transaction: AsyncManagedTransaction, statements: Sequence[Statement]
) -> list[list[dict[str, Value]]]:
    return [await _run(transaction, each.text, each.parameters) for each in statements]


@asynccontextmanager
async def open_neo4j(
    url: str, schema: GraphSchema, *, user: str | None, password: str | None
) -> AsyncGenerator[Neo4jGraphStore]:
    """Connect to `neo4j://`, `bolt://` or their `+s` forms; creates constraints and indexes.

    Raises:
        StartupError: there is no server at the URL, or it refuses user and password.
    """
    try:
        driver = AsyncGraphDatabase.driver(
            url,
            auth=(user, password or "") if user else None,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
    except (ConfigurationError, ValueError) as error:
        raise StartupError(f"{url!r} is no URL of a Neo4j server: {error}") from error
    async with driver:
        store = Neo4jGraphStore(driver)
        try:
            await driver.verify_connectivity()
            for statement in _schema_statements(schema):
                await store.write(None, Statement(statement))
        except (DriverError, Neo4jError) as error:
            raise StartupError(f"the graph at {url} cannot be used: {error}") from error
        yield store


def _schema_statements(schema: GraphSchema) -> list[str]:
    keys = [
        f"CREATE CONSTRAINT {node.label.lower()}_id IF NOT EXISTS "
        f"FOR (n:{node.label}) REQUIRE n.id IS UNIQUE"
        for node in schema.nodes
    ]
    indexes = [
        f"CREATE INDEX {node.label.lower()}_{name} IF NOT EXISTS FOR (n:{node.label}) ON (n.{name})"
        for node in schema.nodes
        for name in node.indexed
    ]
    return keys + indexes
