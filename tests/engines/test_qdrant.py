"""Qdrant: the contract on the client's local mode, and on a server when one is named."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient, models

from fourtier.engines.vectors.qdrant import QdrantVectorStore, create_collection, open_qdrant
from fourtier.runtime.errors import PermanentError, StartupError, UnavailableError
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.message import Vector
from tests.cluster.servers import SERVERS
from tests.engines.searching import search, similar
from tests.engines.vectors_contract import ANN, DIMENSIONS, KIND, VectorStoreContract, point
from tests.engines.vectors_operations import EAST, ids

#: Local mode reads everything for each search; it says so once.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@asynccontextmanager
async def local(dimensions: int, fields: Fields) -> AsyncGenerator[VectorStore]:
    client = AsyncQdrantClient(":memory:")
    try:
        await create_collection(client, "facts", dimensions, fields)
        yield QdrantVectorStore(client, "facts", dimensions, fields)
    finally:
        await client.close()


class TestQdrantLocalMode(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, fields: Fields = KIND
    ) -> AbstractAsyncContextManager[VectorStore]:
        del directory  # in memory
        return local(dimensions, fields)


@asynccontextmanager
async def on_server(dimensions: int, fields: Fields) -> AsyncGenerator[VectorStore]:
    collection = f"test-{uuid4()}"
    url, key = str(SERVERS.qdrant_url), SERVERS.qdrant_key
    async with open_qdrant(url, collection, dimensions, fields, key=key) as store:
        yield store
    client = AsyncQdrantClient(url=url, api_key=key)
    await client.delete_collection(collection)
    await client.close()


@pytest.mark.skipif(SERVERS.qdrant_url is None, reason="FOURTIER_TEST_QDRANT_URL names no server")
class TestQdrantServer(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, fields: Fields = KIND
    ) -> AbstractAsyncContextManager[VectorStore]:
        del directory  # on the server
        return on_server(dimensions, fields)


async def test_a_collection_that_is_there_is_used_as_it_is() -> None:
    client = AsyncQdrantClient(":memory:")
    await create_collection(client, "facts", DIMENSIONS, Fields(["kind"]))
    await QdrantVectorStore(client, "facts", DIMENSIONS, Fields(["kind"])).upsert(
        ANN, [point("one")]
    )

    await create_collection(client, "facts", DIMENSIONS, Fields(["kind"]))

    store = QdrantVectorStore(client, "facts", DIMENSIONS, Fields(["kind"]))
    assert ids(await similar(store, ANN, EAST, 5)) == ["one"]
    await client.close()


async def test_another_embedding_model_is_a_startup_error() -> None:
    client = AsyncQdrantClient(":memory:")
    await create_collection(client, "facts", DIMENSIONS, Fields())
    with pytest.raises(StartupError, match=r"facts has vectors of 4 dimensions.*makes 8.*delete"):
        await create_collection(client, "facts", 8, Fields())
    await client.close()


async def test_a_collection_of_somebody_else_is_a_startup_error() -> None:
    client = AsyncQdrantClient(":memory:")
    await client.create_collection(
        "facts", models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
    )
    with pytest.raises(StartupError, match="not one of Fourtier's"):
        await create_collection(client, "facts", DIMENSIONS, Fields())
    await client.close()


async def test_no_server_is_one_clear_line() -> None:
    with pytest.raises(StartupError, match=r"vector store at http://127\.0\.0\.1:9 cannot be used"):
        async with open_qdrant("http://127.0.0.1:9", "facts", DIMENSIONS, Fields(), key=None):
            pass


async def test_an_unavailable_server_is_told_from_a_wrong_request() -> None:
    client = AsyncQdrantClient("http://127.0.0.1:9", check_compatibility=False)
    store = QdrantVectorStore(client, "facts", DIMENSIONS, Fields(["kind"]))
    with pytest.raises(UnavailableError, match="Qdrant cannot be reached"):
        await store.upsert(ANN, [point("a", EAST)])
    with pytest.raises(UnavailableError, match="Qdrant cannot be reached"):
        await search(store, ANN, EAST, "east", 1)
    with pytest.raises(PermanentError):
        await search(store, ANN, Vector.of([1.0]), "east", 1)
    await client.close()


async def test_an_old_server_is_a_startup_error() -> None:
    async with _answering(
        b'{"title": "qdrant - vector search engine", "version": "1.17.3"}'
    ) as url:
        with pytest.raises(StartupError, match=r"Qdrant 1\.17\.3 .* too old: 1\.19"):
            async with open_qdrant(url, "facts", DIMENSIONS, Fields(), key=None):
                pass


@asynccontextmanager
async def _answering(body: bytes) -> AsyncGenerator[str]:
    """An HTTP server that gives one answer to everything."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        writer.write(f"{head}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
