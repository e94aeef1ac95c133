"""Connecting to a Neo4j server."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from neo4j import AsyncDriver, AsyncGraphDatabase, TrustCustomCAs
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.neo4j.schema import Index, indexes
from fourtier.engines.graph.neo4j.store import Neo4jGraphStore
from fourtier.engines.limits import TimeLimit
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import GraphSchema
from fourtier.runtime.telemetry.redaction import one_line

#: What a server may answer to two who create the same where it does not exist.
_EXISTS = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"

_COMPONENTS = """
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN 'Neo4j' AS name, versions[0] AS version, edition
"""

#: The driver tries a transaction again every second, for half a minute. By its own default it waits
#: twice as long each time: a server that was down for ten seconds is not asked for half a minute.
_RETRY_DELAY_FACTOR = 1.0


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
            f"the graph at {url} rejects user and password: "
            f"set FOURTIER_GRAPH_USER and FOURTIER_GRAPH_PASSWORD"
        ) from error
    except (UnavailableError, DriverError, Neo4jError) as error:
        reason = one_line(error, password)
        raise StartupError(f"the graph at {url} cannot be used: {reason}") from error


@asynccontextmanager
async def connect_neo4j(
    url: str,
    *,
    user: str | None,
    password: str | None,
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> AsyncGenerator[Neo4jGraphStore]:
    """Connect to `neo4j://`, `bolt://` or their `+s` forms; changes nothing.

    Args:
        url: where the server is; a path names one of its databases, the server's default without.
        user: None where it asks for nobody.
        password: the user's.
        trust_certificates: file with the authority that signed the server's certificate, where the
            system does not know it; the connection is encrypted then, whatever the URL says.
        query_seconds: how long the server may take for one query or transaction.

    Raises:
        StartupError: there is no server at the URL, it rejects user and password, it has no such
            database, or it does not answer within the time limit.
    """
    server, database = _split_database(url)
    try:
        driver = _driver(server, (user, password or "") if user else None, trust_certificates)
    except (ConfigurationError, ValueError) as error:
        reason = one_line(error, password)
        raise StartupError(f"{url!r} is not a URL of a Neo4j server: {reason}") from error
    limit = TimeLimit(f"Neo4j at {url}", query_seconds)
    async with driver:
        store = Neo4jGraphStore(driver, database, limit)
        with startup_errors(url, password):
            async with limit.applied():
                await driver.verify_connectivity()
            await store.read(None, "RETURN 1 AS one")  # the database is there too
        yield store


def _split_database(url: str) -> tuple[str, str | None]:
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
            retry_delay_multiplier=_RETRY_DELAY_FACTOR,
        )
    return AsyncGraphDatabase.driver(
        url.replace("+s://", "://", 1),  # the driver takes either this or what follows
        encrypted=True,
        trusted_certificates=TrustCustomCAs(str(trusted)),
        auth=auth,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
        retry_delay_multiplier=_RETRY_DELAY_FACTOR,
    )


async def neo4j_version(
    url: str,
    *,
    user: str | None,
    password: str | None,
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> str:
    """What a server calls itself.

    Raises:
        StartupError: as `connect_neo4j`.
    """
    connecting = connect_neo4j(
        url,
        user=user,
        password=password,
        trust_certificates=trust_certificates,
        query_seconds=query_seconds,
    )
    async with connecting as store:
        with startup_errors(url, password):
            rows = await store.read(None, _COMPONENTS)
    return ", ".join(f"{row['name']} {row['version']} {row['edition']}" for row in rows)


async def create_index(store: Neo4jGraphStore, index: Index) -> None:
    """Create a key or an index; one that exists stays, also if another replica is first."""
    try:
        await retry_on_conflict(lambda: store.write(None, Statement(index.statement)))
    except Neo4jError as error:
        if error.code != _EXISTS:
            raise


@asynccontextmanager
async def open_neo4j(
    url: str,
    schema: GraphSchema,
    *,
    user: str | None,
    password: str | None,
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> AsyncGenerator[Neo4jGraphStore]:
    """Connect as `connect_neo4j` does, and create keys and indexes that are missing.

    Raises:
        StartupError: as `connect_neo4j`, or the schema cannot be created.
    """
    connecting = connect_neo4j(
        url,
        user=user,
        password=password,
        trust_certificates=trust_certificates,
        query_seconds=query_seconds,
    )
    async with connecting as store:
        with startup_errors(url, password):
            for index in indexes(schema):
                await create_index(store, index)
        yield store
