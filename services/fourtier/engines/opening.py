"""Opens the engine that a URL means; the word `embedded` means the one in this process."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from fourtier.engines.config import EngineConfig, resolve_engines
from fourtier.runtime.errors import StartupError
from fourtier.runtime.provisioning import NothingToDo, Provisioner
from fourtier.runtime.service.engines import EMBEDDED, EnginesConfig
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.schemas import Collection, GraphSchema, Stores
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.runtime.settings import Settings

_GRAPH_SCHEMES = {"bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc"}
_VECTOR_SCHEMES = {"http", "https"}


@dataclass(frozen=True, slots=True)
class FlowStores:
    """Opens the stores of a flow's services, as the runtime's `StoreOpener` says."""

    engines: EnginesConfig
    settings: Settings

    def open_graph(
        self, data: Path, schema: GraphSchema
    ) -> AbstractAsyncContextManager[GraphStore]:
        """Open the graph of the service whose directory is `data`."""
        return open_graph(resolve_engines(self.engines, self.settings, data), schema)

    def open_vectors(
        self, data: Path, collection: Collection
    ) -> AbstractAsyncContextManager[VectorStore]:
        """Open one of the collections of the service whose directory is `data`."""
        return open_vectors(resolve_engines(self.engines, self.settings, data), collection)


@asynccontextmanager
async def open_graph(config: EngineConfig, schema: GraphSchema) -> AsyncGenerator[GraphStore]:
    """Open the graph store of a service.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    async with AsyncExitStack() as stack:
        if _is_graph_server(config.graph_url):
            with _needs("neo4j", "cluster"):
                from fourtier.engines.graph.neo4j import open_neo4j
            opening = open_neo4j(
                config.graph_url,
                schema,
                user=config.graph_user,
                password=config.graph_password,
                trust_certificates=config.graph_trust,
                query_seconds=config.query_seconds,
            )
            yield await stack.enter_async_context(opening)
        else:
            with _needs("ladybug", "laptop"):
                from fourtier.engines.graph.ladybug import open_ladybug
            file = config.data / "graph.lbug"
            opening_file = open_ladybug(
                file, schema, disk=config.disk, query_seconds=config.query_seconds
            )
            yield await stack.enter_async_context(opening_file)


@asynccontextmanager
async def open_vectors(config: EngineConfig, collection: Collection) -> AsyncGenerator[VectorStore]:
    """Open a service's vectors: a shard directory or a collection on the server.

    Raises:
        StartupError: the URL is of no known kind, its package is missing, or nothing answers there.
    """
    dimensions = collection.dimensions or config.dimensions
    async with AsyncExitStack() as stack:
        if _is_vector_server(config.vectors_url):
            with _needs("qdrant_client", "cluster"):
                from fourtier.engines.vectors.qdrant import open_qdrant
            opening = open_qdrant(
                config.vectors_url,
                config.name_of(collection),
                dimensions,
                collection.fields,
                key=config.vectors_key,
                layout=config.layout_of(collection),
                trust_certificates=config.vectors_trust,
                query_seconds=config.query_seconds,
            )
            yield await stack.enter_async_context(opening)
        else:
            with _needs("qdrant_edge", "laptop"):
                from fourtier.engines.vectors.edge import open_edge
            directory = config.data / f"vectors-{collection.name}"
            opening_shard = open_edge(
                directory,
                dimensions,
                collection.fields,
                rebuild=collection.rebuild,
                disk=config.disk,
                query_seconds=config.query_seconds,
            )
            yield await stack.enter_async_context(opening_shard)


async def graph_version(config: EngineConfig) -> str:
    """Which graph store a flow has; a server is asked; nothing in it is read.

    Raises:
        StartupError: as `open_graph`.
    """
    if not _is_graph_server(config.graph_url):
        return f"LadybugDB {_version('ladybug', 'laptop')}"
    with _needs("neo4j", "cluster"):
        from fourtier.engines.graph.neo4j import neo4j_version
    return await neo4j_version(
        config.graph_url,
        user=config.graph_user,
        password=config.graph_password,
        trust_certificates=config.graph_trust,
        query_seconds=config.query_seconds,
    )


async def vectors_version(config: EngineConfig) -> str:
    """Which vector store a flow has; a server is asked; nothing in it is read.

    Raises:
        StartupError: as `open_vectors`.
    """
    if not _is_vector_server(config.vectors_url):
        return f"Qdrant Edge {_version('qdrant-edge-py', 'laptop')}"
    with _needs("qdrant_client", "cluster"):
        from fourtier.engines.vectors.qdrant import qdrant_version
    return await qdrant_version(
        config.vectors_url,
        key=config.vectors_key,
        trust_certificates=config.vectors_trust,
        query_seconds=config.query_seconds,
    )


def _version(package: str, extra: str) -> str:
    with _needs(package, extra):
        return version(package)


@asynccontextmanager
async def open_provisioners(
    config: EngineConfig, stores: Sequence[Stores]
) -> AsyncGenerator[Sequence[Provisioner]]:
    """Connect to the servers of a flow's stores, to make what they need before the first start.

    Raises:
        StartupError: as `open_graph` and `open_vectors`.
    """
    async with AsyncExitStack() as stack:
        graph: Provisioner = NothingToDo("graph", config.graph_url)
        if _is_graph_server(config.graph_url):
            with _needs("neo4j", "cluster"):
                from fourtier.engines.graph.neo4j.provisioning import provision_graph
            schemas = [each.graph for each in stores if each.graph is not None]
            graph = await stack.enter_async_context(provision_graph(config, schemas))
        vectors: Provisioner = NothingToDo("vectors", config.vectors_url)
        if _is_vector_server(config.vectors_url):
            with _needs("qdrant_client", "cluster"):
                from fourtier.engines.vectors.qdrant.provisioning import provision_vectors
            collections = [collection for each in stores for collection in each.collections]
            vectors = await stack.enter_async_context(provision_vectors(config, collections))
        yield [graph, vectors]


def _is_graph_server(url: str) -> bool:
    if url != EMBEDDED and url.partition("://")[0] not in _GRAPH_SCHEMES:
        raise StartupError(
            f"{url!r} is not a graph: write embedded, bolt://HOST:PORT or neo4j://HOST:PORT, "
            f"with /DATABASE behind it for another than the server's default"
        )
    return url != EMBEDDED


def _is_vector_server(url: str) -> bool:
    if url != EMBEDDED and url.partition("://")[0] not in _VECTOR_SCHEMES:
        raise StartupError(
            f"{url!r} is not a vector store: write embedded, http://HOST:PORT or https://HOST:PORT"
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
