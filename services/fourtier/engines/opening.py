"""Which engine a URL means; the word `embedded` picks the twin."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fourtier.engines.graph.protocol import GraphSchema, GraphStore
from fourtier.engines.vectors.edge import open_edge
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service import Surroundings
from fourtier.runtime.settings import secret

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class EnginePlace:
    """Where a service's engines are.

    Attributes:
        data: the service's own directory, for the embedded engines.
    """

    data: Path
    graph_url: str = EMBEDDED
    graph_user: str | None = None
    graph_password: str | None = None
    vectors_url: str = EMBEDDED
    vectors_key: str | None = None


_GRAPH_SCHEMES = {"bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc"}


@asynccontextmanager
async def open_graph(place: EnginePlace, schema: GraphSchema) -> AsyncGenerator[GraphStore]:
    """Open the graph store of a service.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    async with AsyncExitStack() as stack:
        if place.graph_url == EMBEDDED:
            with _needs("ladybug", "laptop"):
                from fourtier.engines.graph.ladybug import open_ladybug
            file = place.data / "graph.lbug"
            yield await stack.enter_async_context(open_ladybug(file, schema))
        elif place.graph_url.split("://")[0] in _GRAPH_SCHEMES:
            with _needs("neo4j", "cluster"):
                from fourtier.engines.graph.neo4j import open_neo4j
            yield await stack.enter_async_context(
                open_neo4j(
                    place.graph_url, schema, user=place.graph_user, password=place.graph_password
                )
            )
        else:
            raise StartupError(
                f"{place.graph_url!r} is no graph: write embedded, bolt://HOST:PORT "
                f"or neo4j://HOST:PORT"
            )


@asynccontextmanager
async def open_vectors(
    place: EnginePlace, name: str, dimensions: int, indexed: Sequence[str] = ()
) -> AsyncGenerator[VectorStore]:
    """Open a service's vectors: a shard directory or a collection called `name`.

    `indexed` names the payload fields that searches filter on.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    async with AsyncExitStack() as stack:
        if place.vectors_url == EMBEDDED:
            directory = place.data / f"vectors-{name}"
            yield await stack.enter_async_context(open_edge(directory, dimensions, indexed))
        elif place.vectors_url.startswith(("http://", "https://")):
            with _needs("qdrant_client", "cluster"):
                from fourtier.engines.vectors.qdrant import open_qdrant
            yield await stack.enter_async_context(
                open_qdrant(place.vectors_url, name, dimensions, indexed, key=place.vectors_key)
            )
        else:
            raise StartupError(
                f"{place.vectors_url!r} is no vector store: write embedded, http://HOST:PORT "
                f"or https://HOST:PORT"
            )


@contextmanager
def _needs(package: str, extra: str) -> Generator[None]:
    try:
        yield
    except ImportError as error:
        raise StartupError(
            f"this flow needs the package {package}: install fourtier[{extra}]"
        ) from error


def engine_place(surroundings: Surroundings) -> EnginePlace:
    """Where the engines of a service are, secrets included."""
    settings = surroundings.settings
    return EnginePlace(
        data=surroundings.data,
        graph_url=surroundings.engines.graph,
        graph_user=settings.graph_user,
        graph_password=secret(settings.graph_password),
        vectors_url=surroundings.engines.vectors,
        vectors_key=secret(settings.vectors_key),
    )
