"""A collection on a Qdrant server, or on a cluster of them, by its asynchronous client."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_edge import SparseVector

from fourtier.engines.limits import TimeLimit
from fourtier.engines.vectors.points import (
    DENSE,
    SPARSE,
    Conditions,
    StoredPoint,
    hit,
    stored_point,
)
from fourtier.engines.vectors.protocol import Hit, Point
from fourtier.engines.vectors.shared import RRF_K, HybridQuery, SharedVectorStore
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.telemetry.redaction import one_line
from fourtier.schema.message import Scope

R = TypeVar("R")

#: HTTP statuses of a server that may well answer the same request later.
_TEMPORARY = {429, 500, 502, 503, 504}
NO_ADDRESS = TimeLimit("Qdrant", QUERY_SECONDS)


class QdrantVectorStore(SharedVectorStore):
    """One collection.

    Each method raises UnavailableError when the server cannot be reached, cannot serve now, or does
    not answer within the time limit.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        dimensions: int,
        limit: TimeLimit = NO_ADDRESS,
    ) -> None:
        super().__init__(dimensions)
        self._client = client
        self._collection = collection
        self._limit = limit

    async def _ask(self, request: Awaitable[R]) -> R:
        async with reaching(self._limit):
            return await request

    async def _write(self, scope: Scope, points: Sequence[Point]) -> None:
        """The server has them on disk when this returns."""
        structs = [_struct(stored_point(scope, each, self._dimensions)) for each in points]
        await self._ask(self._client.upsert(self._collection, structs, wait=True))

    async def _hybrid(self, query: HybridQuery) -> list[Hit]:
        within = _filter(query.within)
        own_words = models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(query.corpus)))
        by_meaning = models.Prefetch(
            query=query.dense, using=DENSE, limit=query.ahead, filter=within
        )
        by_words = models.Prefetch(
            query=_sparse(query.sparse),
            using=SPARSE,
            limit=query.ahead,
            filter=within,
            params=own_words,
        )
        request = self._client.query_points(
            self._collection,
            prefetch=[by_meaning, by_words],
            query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)),
            limit=query.limit,
            with_payload=True,
        )
        found = await self._ask(request)
        return [hit(point.payload, point.score) for point in found.points]

    async def _nearest(self, dense: list[float], limit: int, within: Conditions) -> list[Hit]:
        request = self._client.query_points(
            self._collection,
            query=dense,
            using=DENSE,
            query_filter=_filter(within),
            limit=limit,
            with_payload=True,
        )
        found = await self._ask(request)
        return [hit(point.payload, point.score, similarity=point.score) for point in found.points]

    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        request = self._client.retrieve(self._collection, list(stored_ids), with_payload=True)
        return [hit(record.payload) for record in await self._ask(request)]

    async def _page(self, within: Conditions, limit: int, begin_at: str | None) -> list[Hit]:
        request = self._client.scroll(
            self._collection,
            scroll_filter=_filter(within),
            limit=limit,
            offset=begin_at,
            with_payload=True,
        )
        records, _ = await self._ask(request)
        return [hit(record.payload) for record in records]

    async def _count(self, within: Conditions) -> int:
        request = self._client.count(self._collection, count_filter=_filter(within), exact=True)
        return (await self._ask(request)).count

    async def _delete(self, stored_ids: Sequence[str]) -> None:
        points = models.PointIdsList(points=list(stored_ids))
        await self._ask(self._client.delete(self._collection, points, wait=True))

    async def _delete_matching(self, within: Conditions) -> None:
        points = models.FilterSelector(filter=_filter(within))
        await self._ask(self._client.delete(self._collection, points, wait=True))


@asynccontextmanager
async def reaching(limit: TimeLimit) -> AsyncGenerator[None]:
    """Around a request to the server.

    Raises:
        UnavailableError: it cannot be reached, cannot serve now, or takes longer than the limit.
    """
    async with limit.applied():
        try:
            yield
        except ResponseHandlingException as error:
            reason = one_line(error) or type(error.source).__name__
            raise UnavailableError(f"{limit.store} cannot be reached: {reason}") from error
        except UnexpectedResponse as error:
            if error.status_code not in _TEMPORARY:
                raise
            raise UnavailableError(f"{limit.store} cannot serve now: {one_line(error)}") from error


def _struct(stored: StoredPoint) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {DENSE: stored.dense}
    if stored.sparse.indices:
        vectors[SPARSE] = _sparse(stored.sparse)
    return models.PointStruct(id=stored.id, vector=vectors, payload=stored.payload)


def _sparse(encoded: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(encoded.indices), values=list(encoded.values))


def _filter(conditions: Conditions) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchValue(value=value))
        for key, value in conditions
    ]
    return models.Filter(must=must)
