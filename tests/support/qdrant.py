"""A Qdrant that several processes can share, where there is no server to start.

Behind the paths of Qdrant's HTTP API that Fourtier uses stands `qdrant-client`'s local mode, which
really stores and searches; no answer is made up here. It shows that processes share one index by
the client's own protocol. It does not show how a server behaves when many write at once: here each
request is done before the next one begins. The contract of vector stores runs on it too.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from qdrant_client import AsyncQdrantClient, models

from tests.support.serving import serving

#: What a handler makes of a collection's name and a body.
Handler = Callable[[AsyncQdrantClient, str, Any], Awaitable[object]]


async def _exists(client: AsyncQdrantClient, name: str, _body: Any) -> object:
    return {"exists": await client.collection_exists(name)}


async def _create(client: AsyncQdrantClient, name: str, body: Any) -> object:
    asked = models.CreateCollection.model_validate(body)
    if await client.collection_exists(name):
        raise web.HTTPConflict(text=f"Collection `{name}` already exists!")
    return await client.create_collection(
        name, vectors_config=asked.vectors or {}, sparse_vectors_config=asked.sparse_vectors
    )


async def _describe(client: AsyncQdrantClient, name: str, _body: Any) -> object:
    return await client.get_collection(name)


async def _index(_client: AsyncQdrantClient, _name: str, _body: Any) -> object:
    return _DONE  # local mode reads everything and has no indexes


async def _upsert(client: AsyncQdrantClient, name: str, body: Any) -> object:
    return await client.upsert(name, models.PointsList.model_validate(body).points)


async def _set_vectors(client: AsyncQdrantClient, name: str, body: Any) -> object:
    return await client.update_vectors(name, models.UpdateVectors.model_validate(body).points)


async def _get(client: AsyncQdrantClient, name: str, body: Any) -> object:
    asked = models.PointRequest.model_validate(body)
    return await client.retrieve(name, asked.ids, with_payload=asked.with_payload or False)


async def _query(client: AsyncQdrantClient, name: str, body: Any) -> object:
    asked = models.QueryRequestBatch.model_validate(body)
    return [await _answer(client, name, each) for each in asked.searches]


async def _answer(
    client: AsyncQdrantClient, name: str, asked: models.QueryRequest
) -> models.QueryResponse:
    return await client.query_points(
        name,
        query=asked.query,
        prefetch=asked.prefetch,
        using=asked.using,
        query_filter=asked.filter,
        search_params=asked.params,
        limit=asked.limit or 10,
        with_payload=asked.with_payload or False,
    )


async def _scroll(client: AsyncQdrantClient, name: str, body: Any) -> object:
    asked = models.ScrollRequest.model_validate(body)
    points, following = await client.scroll(
        name,
        scroll_filter=asked.filter,
        limit=asked.limit or 10,
        offset=asked.offset,
        with_payload=asked.with_payload or False,
    )
    return {"points": points, "next_page_offset": following}


async def _count(client: AsyncQdrantClient, name: str, body: Any) -> object:
    return await client.count(name, models.CountRequest.model_validate(body).filter)


async def _facet(client: AsyncQdrantClient, name: str, body: Any) -> object:
    asked = models.FacetRequest.model_validate(body)
    return await client.facet(
        name,
        asked.key,
        facet_filter=asked.filter,
        limit=asked.limit or 10,
        exact=asked.exact or False,
    )


async def _delete(client: AsyncQdrantClient, name: str, body: Any) -> object:
    selected = models.PointIdsList if "points" in body else models.FilterSelector
    return await client.delete(name, selected.model_validate(body))


_DONE = models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)
_HANDLERS: dict[tuple[str, str], Handler] = {
    ("GET", "/exists"): _exists,
    ("PUT", ""): _create,
    ("GET", ""): _describe,
    ("PUT", "/index"): _index,
    ("PUT", "/points"): _upsert,
    ("POST", "/points"): _get,
    ("PUT", "/points/vectors"): _set_vectors,
    ("POST", "/points/query/batch"): _query,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): _count,
    ("POST", "/points/delete"): _delete,
    ("POST", "/facet"): _facet,
}


def _answering(
    client: AsyncQdrantClient, handler: Handler
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        result = await handler(client, request.match_info["name"], body)
        return web.json_response({"result": _plain(result), "status": "ok", "time": 0.0})

    return answer


def _plain(result: object) -> object:
    """As it goes into JSON."""
    if isinstance(result, dict):
        return {key: _plain(value) for key, value in result.items()}
    if isinstance(result, list):
        return [_plain(value) for value in result]
    dump = getattr(result, "model_dump", None)
    return dump(mode="json") if dump else result


@asynccontextmanager
async def shared_qdrant() -> AsyncGenerator[str]:
    """Serve an empty one until the context ends; its URL."""
    client = AsyncQdrantClient(":memory:")

    async def say_version(_request: web.Request) -> web.StreamResponse:
        return web.json_response((await client.info()).model_dump(mode="json"))

    application = web.Application(client_max_size=2**26)
    application.router.add_get("/", say_version)
    for (method, path), handler in _HANDLERS.items():
        application.router.add_route(
            method, f"/collections/{{name}}{path}", _answering(client, handler)
        )
    try:
        async with serving(application) as url:
            yield url
    finally:
        await client.close()
