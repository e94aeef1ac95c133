"""Which engine a URL means; the word `embedded` picks the twin."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version

from fourtier.engines.config import EngineConfig
from fourtier.engines.graph.protocol import GraphStore
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.runtime.errors import StartupError
from fourtier.runtime.provisioning import NothingToDo, Provisioner
from fourtier.runtime.service.engines import EMBEDDED
from fourtier.runtime.service.stores import Collection, GraphSchema, Stores

_GRAPH_SCHEMES = {"bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc"}
_VECTOR_SCHEMES = {"http", "https"}


@asynccontextmanager
async def open_graph(place: EngineConfig, schema: GraphSchema) -> AsyncGenerator[GraphStore]:
    """Open the graph store of a service.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    async with AsyncExitStack() as stack:
        if _is_graph_server(place.graph_url):
            with _needs("neo4j", "cluster"):
                from fourtier.engines.graph.neo4j import open_neo4j
            opening = open_neo4j(
                place.graph_url,
                schema,
                user=place.graph_user,
                password=place.graph_password,
                trust_certificates=place.graph_trust,
            )
            yield await stack.enter_async_context(opening)
        else:
            with _needs("ladybug", "laptop"):
                from fourtier.engines.graph.ladybug import open_ladybug
            file = place.data / "graph.lbug"
            yield await stack.enter_async_context(open_ladybug(file, schema))


@asynccontextmanager
async def open_vectors(place: EngineConfig, collection: Collection) -> AsyncGenerator[VectorStore]:
    """Open a service's vectors: a shard directory or a collection on the server.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    dimensions = collection.dimensions or place.dimensions
    async with AsyncExitStack() as stack:
        if _is_vector_server(place.vectors_url):
            with _needs("qdrant_client", "cluster"):
                from fourtier.engines.vectors.qdrant import open_qdrant
            opening = open_qdrant(
                place.vectors_url,
                place.name_of(collection),
                dimensions,
                collection.indexed,
                key=place.vectors_key,
                layout=place.layout_of(collection),
                trust_certificates=place.vectors_trust,
            )
            yield await stack.enter_async_context(opening)
        else:
            with _needs("qdrant_edge", "laptop"):
                from fourtier.engines.vectors.edge import open_edge
            directory = place.data / f"vectors-{collection.name}"
            yield await stack.enter_async_context(
                open_edge(directory, dimensions, collection.indexed)
            )


async def graph_version(place: EngineConfig) -> str:
    """Which graph store a flow has; a server is asked, and nothing in it is looked at.

    Raises:
        StartupError: as `open_graph`.
    """
    if not _is_graph_server(place.graph_url):
        return f"LadybugDB {_version('ladybug', 'laptop')}"
    with _needs("neo4j", "cluster"):
        from fourtier.engines.graph.neo4j import neo4j_version
    return await neo4j_version(
        place.graph_url,
        user=place.graph_user,
        password=place.graph_password,
        trust_certificates=place.graph_trust,
    )


async def vectors_version(place: EngineConfig) -> str:
    """Which vector store a flow has; a server is asked, and nothing in it is looked at.

    Raises:
        StartupError: as `open_vectors`.
    """
    if not _is_vector_server(place.vectors_url):
        return f"Qdrant Edge {_version('qdrant-edge-py', 'laptop')}"
    with _needs("qdrant_client", "cluster"):
        from fourtier.engines.vectors.qdrant import qdrant_version
    return await qdrant_version(
        place.vectors_url, key=place.vectors_key, trust_certificates=place.vectors_trust
    )


def _version(package: str, extra: str) -> str:
    with _needs(package, extra):
        return version(package)


@asynccontextmanager
async def open_provisioners(
    place: EngineConfig, stores: Sequence[Stores]
) -> AsyncGenerator[Sequence[Provisioner]]:
    """Connect to the servers of a flow's stores, to make what they need before the first start.

    Raises:
        StartupError: as `open_graph` and `open_vectors`.
    """
    async with AsyncExitStack() as stack:
        graph: Provisioner = NothingToDo("graph", place.graph_url)
        if _is_graph_server(place.graph_url):
            with _needs("neo4j", "cluster"):
                from fourtier.engines.graph.neo4j_provisioning import provision_graph
            schemas = [each.graph for each in stores if each.graph is not None]
            graph = await stack.enter_async_context(provision_graph(place, schemas))
        vectors: Provisioner = NothingToDo("vectors", place.vectors_url)
        if _is_vector_server(place.vectors_url):
            with _needs("qdrant_client", "cluster"):
                from fourtier.engines.vectors.qdrant_provisioning import provision_vectors
            collections = [collection for each in stores for collection in each.collections]
            vectors = await stack.enter_async_context(provision_vectors(place, collections))
        yield [graph, vectors]


def _is_graph_server(url: str) -> bool:
    if url != EMBEDDED and url.partition("://")[0] not in _GRAPH_SCHEMES:
        raise StartupError(
            f"{url!r} is no graph: write embedded, bolt://HOST:PORT or neo4j://HOST:PORT, "
            f"with /DATABASE behind it for another than the server's default"
        )
    return url != EMBEDDED


def _is_vector_server(url: str) -> bool:
    if url != EMBEDDED and url.partition("://")[0] not in _VECTOR_SCHEMES:
        raise StartupError(
            f"{url!r} is no vector store: write embedded, http://HOST:PORT or https://HOST:PORT"
        )
    return url != EMBEDDED


@contextmanager
def _needs(package: str, extra: str) -> Generator[None]:
    try:
        yield
    except ImportError as error:
        raise StartupError(
            f"this flow needs the package {package}: install fourtier[{extra}]"
        ) from error
