"""A collection on a Qdrant server, or on a cluster of them, by its asynchronous client."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from fourtier.engines.limits import TimeLimit
from fourtier.engines.vectors.points import StoredPoint, hit, stored_point
from fourtier.engines.vectors.qdrant import requests
from fourtier.engines.vectors.qdrant.requests import filter_of
from fourtier.engines.vectors.shared import EncodedLeg, Search, SharedVectorStore
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.query import Where
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Facet, Hit, Point
from fourtier.runtime.telemetry.redaction import one_line
from fourtier.schema.message import Scope

R = TypeVar("R")

#: HTTP statuses of a server that may well answer the same request later.
_TEMPORARY = {429, 500, 502, 503, 504}
_SEGMENTS = Remainder(
    "segments of Qdrant, which no search reads",
    "its vacuum rewrites a segment: where a fifth of at least 1,000 points is deleted, unless "
    "optimizers_config of the collection says otherwise",
)
_LOG = Remainder(
    "the write-ahead log of Qdrant", "as many changes as fill wal_capacity_mb (32 MB) were written"
)
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
        fields: Fields,
        limit: TimeLimit = NO_ADDRESS,
    ) -> None:
        super().__init__(dimensions, fields)
        self._client = client
        self._collection = collection
        self._limit = limit

    async def _ask(self, request: Awaitable[R]) -> R:
        async with reaching(self._limit):
            return await request

    async def _write(self, scope: Scope, points: Sequence[Point]) -> None:
        """The server has them on disk when this returns."""
        structs = [
            _struct(stored_point(scope, each, self._dimensions, self._fields)) for each in points
        ]
        await self._ask(self._client.upsert(self._collection, structs, wait=True))

    async def _set_fields(self, points: Sequence[StoredPoint]) -> None:
        updated = [
            models.PointVectors(id=point.id, vector=_vectors(point, empty=True)) for point in points
        ]
        await self._ask(self._client.update_vectors(self._collection, updated, wait=True))

    async def _ranked(self, leg: EncodedLeg, search: Search) -> list[Hit]:
        points = await self._search(requests.ranked(leg, search))
        return [hit(each.payload, each.score, each.score if leg.dense else None) for each in points]

    async def _fused(self, legs: Sequence[EncodedLeg], k: int, search: Search) -> list[Hit]:
        points = await self._search(requests.fused(legs, k, search))
        return [hit(each.payload, each.score) for each in points]

    async def _search(self, request: models.QueryRequest) -> list[models.ScoredPoint]:
        asked = self._client.query_batch_points(self._collection, [request])
        (found,) = await self._ask(asked)
        return found.points

    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        request = self._client.retrieve(self._collection, list(stored_ids), with_payload=True)
        return [hit(record.payload) for record in await self._ask(request)]

    async def _page(self, within: Where, limit: int, begin_at: str | None) -> list[Hit]:
        request = self._client.scroll(
            self._collection,
            scroll_filter=filter_of(within),
            limit=limit,
            offset=begin_at,
            with_payload=True,
        )
        records, _ = await self._ask(request)
        return [hit(record.payload) for record in records]

    async def _count(self, within: Where) -> int:
        request = self._client.count(self._collection, count_filter=filter_of(within), exact=True)
        return (await self._ask(request)).count

    async def _facet(self, field: str, limit: int, within: Where) -> list[Facet]:
        request = self._client.facet(
            self._collection, field, facet_filter=filter_of(within), limit=limit, exact=True
        )
        found = await self._ask(request)
        return [Facet(str(each.value), each.count) for each in found.hits]

    async def _delete(self, stored_ids: Sequence[str]) -> None:
        points = models.PointIdsList(points=list(stored_ids))
        await self._ask(self._client.delete(self._collection, points, wait=True))

    async def _delete_matching(self, within: Where) -> None:
        points = models.FilterSelector(filter=filter_of(within))
        await self._ask(self._client.delete(self._collection, points, wait=True))

    async def erase(self) -> tuple[Remainder, ...]:
        """Qdrant has no call for it: its optimizers and its log go their own ways."""
        return (_SEGMENTS, _LOG)


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
    vectors = _vectors(stored, empty=False)
    return models.PointStruct(id=stored.id, vector=vectors, payload=stored.payload)


def _vectors(stored: StoredPoint, *, empty: bool) -> dict[str, models.Vector]:
    """By field; the words of a text without a content word where they take another's place."""
    vectors: dict[str, models.Vector] = {**stored.dense}
    for field, words in stored.sparse.items():
        if words.indices or empty:
            vectors[field] = requests.sparse_of(words)
    return vectors
