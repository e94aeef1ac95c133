"""Neo4j by its own asynchronous driver."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import LiteralString, cast
from urllib.parse import urlsplit, urlunsplit

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncSession,
    TrustCustomCAs,
)
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    TransientError,
)

from fourtier.engines.graph.binding import bound, bound_all
from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.neo4j_schema import Index, indexes
from fourtier.engines.graph.protocol import ConflictError, Parameter, Statement, Value, require_rows
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.stores import GraphSchema
from fourtier.runtime.telemetry.redaction import one_line
from fourtier.schema.message import Scope

#: What a server may answer to two who create the same where it does not exist.
_IS_THERE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"

#: What it answers to the later one of two who create the same node, and to who waited for a node
#: that the other one has deleted.
_OVERTAKEN = {
    "Neo.ClientError.Schema.ConstraintValidationFailed",
    "Neo.ClientError.Statement.EntityNotFound",
}

#: What it answers to one of two who wait for each other; nothing of that one is kept.
_DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"

_NULL = {type(None)}

_COMPONENTS = """
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN 'Neo4j' AS name, versions[0] AS version, edition
"""

#: The driver tries a transaction again every second, for half a minute. By its own default it waits
#: twice as long each time: a server that was away for ten seconds is not asked for half a minute.
_RETRY_DELAY_GROWS_BY = 1.0


class Neo4jGraphStore:
    """A database on a server.

    A statement alone is its own transaction and takes one round trip; a managed transaction of the
    driver takes four. So a read took 1.2 ms instead of 2.8, and a write 1.6 instead of 5.0.
    """

    def __init__(self, driver: AsyncDriver, database: str | None = None) -> None:
        self._driver = driver
        self._database = database

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement that changes nothing; a dict for each row.

        Raises:
            UnavailableError: the server cannot be reached or cannot serve now.
        """
        ready = Statement(text, bound(scope, text, parameters))
        try:
            rows = await self._alone(ready, READ_ACCESS)
        except (
            UnavailableError
        ):  # a connection of the pool may be from before a restart of the server
            rows = await self._alone(ready, READ_ACCESS)
        # Of a node that another writer deletes in this moment, what was not read before is null.
        return [row for row in rows if _NULL.isdisjoint(map(type, row.values()))]

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns.

        Raises:
            UnavailableError: the server cannot be reached or cannot serve now. A single statement
                may have been carried out all the same: who tries again reads first what is there.
            ConflictError: as the protocol says.
        """
        ready = bound_all(scope, statements)
        if len(ready) == 1 and ready[0].rows is None:
            try:
                return [await self._alone(ready[0], WRITE_ACCESS)]
            except UnavailableError as error:
                if not isinstance(error.__cause__, TransientError):
                    raise
                # As a deadlock: the server has carried nothing out and wants it once more.
        async with self._session(WRITE_ACCESS) as session:
            return await session.execute_write(_run_all, ready)

    async def _alone(self, statement: Statement, access: str) -> list[dict[str, Value]]:
        async with self._session(access) as session:
            return await _run(session, statement)

    @asynccontextmanager
    async def _session(self, access: str) -> AsyncGenerator[AsyncSession]:
        """A session of the driver.

        Raises:
            UnavailableError: as `read`.
        """
        try:
            opening = self._driver.session(default_access_mode=access, database=self._database)
            async with opening as session:
                yield session
        except (DriverError, Neo4jError) as error:
            if isinstance(error, Neo4jError) and error.code in _OVERTAKEN:
                raise ConflictError(one_line(error)) from error
            if not error.is_retryable():
                raise
            raise UnavailableError(f"Neo4j cannot be reached: {one_line(error)}") from error


async def _run(
    runner: AsyncSession | AsyncManagedTransaction, statement: Statement
) -> list[dict[str, Value]]:
    # All texts come from our own files; mypy takes LiteralString for str, pyright does not.
    literal = cast("LiteralString", statement.text)  # type: ignore[redundant-cast]
    result = await runner.run(literal, dict(statement.parameters))
    return await result.data()


async def _run_all(
    transaction: AsyncManagedTransaction, statements: Sequence[Statement]
) -> list[list[dict[str, Value]]]:
    results: list[list[dict[str, Value]]] = []
    for each in statements:
        try:
            rows = await _run(transaction, each)
        except Neo4jError as error:
            # The driver would pause for a second before it tries again.
            if error.code != _DEADLOCK:
                raise
            raise ConflictError(one_line(error)) from error
        require_rows(each, rows)
        results.append(rows)
    return results


@contextmanager
def startup_errors(url: str, password: str | None) -> Generator[None]:
    """Tell in one line what goes wrong while things are set up.

    Raises:
        StartupError: instead of what the driver raises.
    """
    try:
        yield
    except AuthError as error:
        raise StartupError(
            f"the graph at {url} refuses user and password: "
            f"set FOURTIER_GRAPH_USER and FOURTIER_GRAPH_PASSWORD"
        ) from error
    except (UnavailableError, DriverError, Neo4jError) as error:
        reason = one_line(error, password)
        raise StartupError(f"the graph at {url} cannot be used: {reason}") from error


@asynccontextmanager
async def connect_neo4j(
    url: str, *, user: str | None, password: str | None, trust_certificates: Path | None = None
) -> AsyncGenerator[Neo4jGraphStore]:
    """Connect to `neo4j://`, `bolt://` or their `+s` forms; changes nothing.

    Args:
        url: where the server is; a path names one of its databases, the server's default without.
        user: None where it asks for nobody.
        password: the user's.
        trust_certificates: file with the authority that signed the server's certificate, where the
            system does not know it; the connection is encrypted then, whatever the URL says.

    Raises:
        StartupError: there is no server at the URL, it refuses user and password, or it has no such
            database.
    """
    server, database = _divided(url)
    try:
        driver = _driver(server, (user, password or "") if user else None, trust_certificates)
    except (ConfigurationError, ValueError) as error:
        reason = one_line(error, password)
        raise StartupError(f"{url!r} is no URL of a Neo4j server: {reason}") from error
    async with driver:
        store = Neo4jGraphStore(driver, database)
        with startup_errors(url, password):
            await driver.verify_connectivity()
            await store.read(None, "RETURN 1 AS one")  # the database is there too
        yield store


def _divided(url: str) -> tuple[str, str | None]:
    """A URL without its path, and the database that the path names."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path="")), parts.path.strip("/") or None


def _driver(url: str, auth: tuple[str, str] | None, trusted: Path | None) -> AsyncDriver:
    """The driver, without its remarks on queries and its reports to its makers."""
    if trusted is None:
        return AsyncGraphDatabase.driver(
            url,
            auth=auth,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            retry_delay_multiplier=_RETRY_DELAY_GROWS_BY,
        )
    return AsyncGraphDatabase.driver(
        url.replace("+s://", "://", 1),  # the driver takes either this or what follows
        encrypted=True,
        trusted_certificates=TrustCustomCAs(str(trusted)),
        auth=auth,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
        retry_delay_multiplier=_RETRY_DELAY_GROWS_BY,
    )


async def neo4j_version(
    url: str, *, user: str | None, password: str | None, trust_certificates: Path | None = None
) -> str:
    """What a server calls itself.

    Raises:
        StartupError: as `connect_neo4j`.
    """
    connecting = connect_neo4j(
        url, user=user, password=password, trust_certificates=trust_certificates
    )
    async with connecting as store:
        with startup_errors(url, password):
            rows = await store.read(None, _COMPONENTS)
    return ", ".join(f"{row['name']} {row['version']} {row['edition']}" for row in rows)


async def create_index(store: Neo4jGraphStore, index: Index) -> None:
    """Create a key or an index; one that is there stays, also if it came this very moment."""
    try:
        await retry_on_conflict(lambda: store.write(None, Statement(index.statement)))
    except Neo4jError as error:
        if error.code != _IS_THERE:
            raise


@asynccontextmanager
async def open_neo4j(
    url: str,
    schema: GraphSchema,
    *,
    user: str | None,
    password: str | None,
    trust_certificates: Path | None = None,
) -> AsyncGenerator[Neo4jGraphStore]:
    """Connect as `connect_neo4j` does, and create keys and indexes that are missing.

    Raises:
        StartupError: as `connect_neo4j`, or the schema cannot be created.
    """
    connecting = connect_neo4j(
        url, user=user, password=password, trust_certificates=trust_certificates
    )
    async with connecting as store:
        with startup_errors(url, password):
            for index in indexes(schema):
                await create_index(store, index)
        yield store
