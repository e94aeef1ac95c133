"""A Qdrant server, or a cluster of them, by its asynchronous client."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_edge import SparseVector

from fourtier.engines.vectors.protocol import Hit, Payload, Point
from fourtier.engines.vectors.sparse import encode_document, encode_query
from fourtier.runtime.errors import StartupError
from fourtier.schema.message import Scope, Vector

_DENSE, _SPARSE, _SCOPE = "dense", "sparse", "scope"
#: As in the embedded engine: RRF over two searches of four times the asked number.
_RRF_K = 60
_AHEAD = 4


class QdrantVectorStore:
    """One collection."""

    def __init__(self, client: AsyncQdrantClient, collection: str) -> None:
        self._client = client
        self._collection = collection

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; the server has them on disk when this returns."""
        if not points:
            return
        await self._client.upsert(
            self._collection,
            [
                models.PointStruct(
                    id=point.id,
                    vector={
                        _DENSE: point.vector.floats(),
                        _SPARSE: _sparse(encode_document(point.text)),
                    },
                    payload={**point.payload, _SCOPE: scope.key},
                )
                for point in points
            ],
            wait=True,
        )

    async def search(
        self,
        scope: Scope,
        vector: Vector,
        text: str,
        limit: int,
        where: Payload | None = None,
    ) -> list[Hit]:
        """Find by meaning and by words, fused by reciprocal rank; best first."""
        within = _filter(scope, where)
        found = await self._client.query_points(
            self._collection,
            prefetch=[
                models.Prefetch(
                    query=vector.floats(), using=_DENSE, limit=limit * _AHEAD, filter=within
                ),
                models.Prefetch(
                    query=_sparse(encode_query(text)),
                    using=_SPARSE,
                    limit=limit * _AHEAD,
                    filter=within,
                ),
            ],
            query=models.RrfQuery(rrf=models.Rrf(k=_RRF_K)),
            limit=limit,
            with_payload=True,
        )
        return [_hit(point, point.score) for point in found.points]

    async def similar(
        self, scope: Scope, vector: Vector, limit: int, where: Payload | None = None
    ) -> list[Hit]:
        """Find by meaning alone; best first, `similarity` set."""
        found = await self._client.query_points(
            self._collection,
            query=vector.floats(),
            using=_DENSE,
            query_filter=_filter(scope, where),
            limit=limit,
            with_payload=True,
        )
        return [_hit(point, point.score, similarity=point.score) for point in found.points]

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id; those that the scope does not have are left out."""
        if not ids:
            return []
        records = await self._client.retrieve(self._collection, list(ids), with_payload=True)
        hits = [_hit(each) for each in records if (each.payload or {}).get(_SCOPE) == scope.key]
        order = {point_id: place for place, point_id in enumerate(ids)}
        return sorted(hits, key=lambda hit: order[hit.id])

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope in the order of ids, beginning behind `after`."""
        records, _ = await self._client.scroll(
            self._collection,
            scroll_filter=_filter(scope, None),
            limit=limit if after is None else limit + 1,  # the offset is inclusive
            offset=after,
            with_payload=True,
        )
        return [hit for hit in map(_hit, records) if hit.id != after][:limit]

    async def count(self, scope: Scope | None = None, where: Payload | None = None) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        answer = await self._client.count(
            self._collection, count_filter=_filter(scope, where), exact=True
        )
        return answer.count

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        mine = [hit.id for hit in await self.get(scope, ids)]
        if mine:
            await self._client.delete(self._collection, list(mine), wait=True)
        return len(mine)

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        number = await self.count(scope)
        await self._client.delete(
            self._collection, models.FilterSelector(filter=_filter(scope, None)), wait=True
        )
        return number


def _sparse(encoded: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(encoded.indices), values=list(encoded.values))


def _filter(scope: Scope | None, where: Payload | None) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchValue(value=value))
        for key, value in (where or {}).items()
    ]
    if scope is not None:
        must.append(models.FieldCondition(key=_SCOPE, match=models.MatchValue(value=scope.key)))
    return models.Filter(must=must)


def _hit(
    record: models.Record | models.ScoredPoint,
    score: float = 0.0,
    similarity: float | None = None,
) -> Hit:
    payload = {key: value for key, value in (record.payload or {}).items() if key != _SCOPE}
    return Hit(str(record.id), score, payload, similarity)


@asynccontextmanager
async def open_qdrant(
    url: str, collection: str, dimensions: int, indexed: Sequence[str], *, key: str | None
) -> AsyncGenerator[QdrantVectorStore]:
    """Connect to a server and see to it that the collection is there.

    Raises:
        StartupError: nothing answers at the URL, or it refuses the key.
    """
    client = AsyncQdrantClient(url=url, api_key=key, timeout=10, check_compatibility=False)
    try:
        await create_collection(client, collection, dimensions, indexed)
        yield QdrantVectorStore(client, collection)
    except (ResponseHandlingException, UnexpectedResponse) as error:
        raise StartupError(f"the vector store at {url} cannot be used: {error}") from error
    finally:
        await client.close()


async def create_collection(
    client: AsyncQdrantClient, collection: str, dimensions: int, indexed: Sequence[str]
) -> None:
    """Create the collection with its tenant index, unless it is there."""
    if await client.collection_exists(collection):
        return
    await client.create_collection(
        collection,
        vectors_config={
            _DENSE: models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
        },
        sparse_vectors_config={_SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    await client.create_payload_index(
        collection,
        _SCOPE,
        models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    )
    for field in indexed:
        await client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD)
