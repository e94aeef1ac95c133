"""A Qdrant server, or a cluster of them, by its asynchronous client."""

import ssl
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_edge import SparseVector

from fourtier.engines.vectors.points import (
    AHEAD,
    DENSE,
    ID,
    RRF_K,
    SCOPE,
    SPARSE,
    checked,
    own_payload,
    stored_id,
    stored_payload,
)
from fourtier.engines.vectors.protocol import Hit, Payload, Point
from fourtier.engines.vectors.qdrant_collections import create_collection
from fourtier.engines.vectors.sparse import encode_document, encode_query
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.engines import CollectionsConfig
from fourtier.runtime.telemetry.redaction import one_line
from fourtier.schema.message import Scope, Vector

#: The first that takes the weights of words from one tenant's texts; older ones would not say so.
_LEAST_VERSION = (1, 19)
_REFUSED = {401, 403}
_NOT_NOW = {429, 500, 502, 503, 504}


@asynccontextmanager
async def _reaching() -> AsyncGenerator[None]:
    """Around what asks the server.

    Raises:
        UnavailableError: it cannot be reached, or cannot serve now.
    """
    try:
        yield
    except ResponseHandlingException as error:
        raise UnavailableError(f"Qdrant cannot be reached: {one_line(error)}") from error
    except UnexpectedResponse as error:
        if error.status_code is None or error.status_code not in _NOT_NOW:
            raise
        raise UnavailableError(f"Qdrant cannot serve now: {one_line(error)}") from error


class QdrantVectorStore:
    """One collection."""

    def __init__(self, client: AsyncQdrantClient, collection: str, dimensions: int) -> None:
        self._client = client
        self._collection = collection
        self._dimensions = dimensions

    @_reaching()
    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; the server has them on disk when this returns."""
        if points:
            structs = [self._struct(scope, point) for point in points]
            await self._client.upsert(self._collection, structs, wait=True)

    def _struct(self, scope: Scope, point: Point) -> models.PointStruct:
        vectors: dict[str, models.Vector] = {DENSE: checked(point.vector, self._dimensions)}
        words = encode_document(point.text)
        if words.indices:
            vectors[SPARSE] = _sparse(words)
        return models.PointStruct(
            id=stored_id(scope, point.id), vector=vectors, payload=stored_payload(scope, point)
        )

    @_reaching()
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
        ahead = limit * AHEAD
        by_meaning = models.Prefetch(
            query=checked(vector, self._dimensions), using=DENSE, limit=ahead, filter=within
        )
        by_words = models.Prefetch(
            query=_sparse(encode_query(text)),
            using=SPARSE,
            limit=ahead,
            filter=within,
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(scope, None))),
        )
        found = await self._client.query_points(
            self._collection,
            prefetch=[by_meaning, by_words],
            query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)),
            limit=limit,
            with_payload=True,
        )
        return [_hit(point, point.score) for point in found.points]

    @_reaching()
    async def similar(
        self, scope: Scope, vector: Vector, limit: int, where: Payload | None = None
    ) -> list[Hit]:
        """Find by meaning alone; best first, `similarity` set."""
        found = await self._client.query_points(
            self._collection,
            query=checked(vector, self._dimensions),
            using=DENSE,
            query_filter=_filter(scope, where),
            limit=limit,
            with_payload=True,
        )
        return [_hit(point, point.score, similarity=point.score) for point in found.points]

    @_reaching()
    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id, in the order asked for; those that are not there are left out."""
        wanted = {stored_id(scope, each): place for place, each in enumerate(dict.fromkeys(ids))}
        if not wanted:
            return []
        records = await self._client.retrieve(self._collection, list(wanted), with_payload=True)
        return list(map(_hit, sorted(records, key=lambda record: wanted[str(record.id)])))

    @_reaching()
    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope, beginning behind `after`."""
        records, _ = await self._client.scroll(
            self._collection,
            scroll_filter=_filter(scope, None),
            limit=limit if after is None else limit + 1,  # the offset is inclusive
            offset=None if after is None else stored_id(scope, after),
            with_payload=True,
        )
        return [hit for hit in map(_hit, records) if hit.id != after][:limit]

    @_reaching()
    async def count(self, scope: Scope | None = None, where: Payload | None = None) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        answer = await self._client.count(
            self._collection, count_filter=_filter(scope, where), exact=True
        )
        return answer.count

    @_reaching()
    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        known = await self.get(scope, ids)
        if known:
            stored = models.PointIdsList(points=[stored_id(scope, hit.id) for hit in known])
            await self._client.delete(self._collection, stored, wait=True)
        return len(known)

    @_reaching()
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
        must.append(models.FieldCondition(key=SCOPE, match=models.MatchValue(value=scope.key)))
    return models.Filter(must=must)


def _hit(
    record: models.Record | models.ScoredPoint,
    score: float = 0.0,
    similarity: float | None = None,
) -> Hit:
    payload = record.payload or {}
    return Hit(payload[ID], score, own_payload(payload), similarity)


@contextmanager
def startup_errors(url: str, key: str | None) -> Generator[None]:
    """Tell in one line what goes wrong while things are set up.

    Raises:
        StartupError: instead of what the client raises.
    """
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in _REFUSED:
            raise StartupError(
                f"the vector store at {url} refuses the key: set FOURTIER_VECTORS_KEY"
            ) from error
        reason = one_line(f"{error.status_code} {error.content.decode(errors='replace')}", key)
        raise StartupError(f"the vector store at {url} cannot be used: {reason}") from error
    except ResponseHandlingException as error:
        reason = one_line(error, key)
        raise StartupError(f"the vector store at {url} cannot be used: {reason}") from error


@asynccontextmanager
async def connect_qdrant(
    url: str, *, key: str | None, trust_certificates: Path | None = None
) -> AsyncGenerator[AsyncQdrantClient]:
    """Connect to a server; changes nothing.

    `trust_certificates` is a file with the authority that signed the server's certificate, where
    the system does not know it.

    Raises:
        StartupError: nothing answers at the URL, it refuses the key, or it is too old.
    """
    try:
        trusted = ssl.create_default_context(cafile=trust_certificates)
    except OSError as error:
        raise StartupError(
            f"the certificates {trust_certificates} cannot be used: {error.strerror}"
        ) from error
    client = AsyncQdrantClient(
        url=url, api_key=key, timeout=10, check_compatibility=False, verify=trusted
    )
    try:
        with startup_errors(url, key):
            await _check_version(client, url)
        yield client
    finally:
        await client.close()


async def qdrant_version(
    url: str, *, key: str | None, trust_certificates: Path | None = None
) -> str:
    """What a server calls itself.

    Raises:
        StartupError: as `connect_qdrant`.
    """
    async with connect_qdrant(url, key=key, trust_certificates=trust_certificates) as client:
        with startup_errors(url, key):
            return f"Qdrant {(await client.info()).version}"


@asynccontextmanager
async def open_qdrant(
    url: str,
    collection: str,
    dimensions: int,
    indexed: Sequence[str],
    *,
    key: str | None,
    layout: CollectionsConfig = CollectionsConfig(),
    trust_certificates: Path | None = None,
) -> AsyncGenerator[QdrantVectorStore]:
    """Connect to a server and see to it that the collection is there.

    Raises:
        StartupError: as `connect_qdrant`, or the collection keeps other vectors than the flow's.
    """
    async with connect_qdrant(url, key=key, trust_certificates=trust_certificates) as client:
        with startup_errors(url, key):
            await create_collection(client, collection, dimensions, indexed, layout)
        yield QdrantVectorStore(client, collection, dimensions)


async def _check_version(client: AsyncQdrantClient, url: str) -> None:
    version = (await client.info()).version
    if tuple(int(part) for part in version.split(".")[:2]) < _LEAST_VERSION:
        least = ".".join(map(str, _LEAST_VERSION))
        raise StartupError(f"Qdrant {version} at {url} is too old: {least} or newer is needed")
