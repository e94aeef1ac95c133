"""Qdrant Edge: Qdrant's storage engine in this process, one shard directory."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import qdrant_edge as edge

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
from fourtier.engines.vectors.sparse import encode_document, encode_query
from fourtier.runtime.errors import StartupError
from fourtier.schema.message import Scope, Vector

P = ParamSpec("P")
R = TypeVar("R")

#: The write-ahead log grows until a flush (25 ms), and is replayed after a crash.
_FLUSH_EVERY = 5_000


class EdgeVectorStore:
    """A shard. Its calls run in one thread: the engine is fast, the event loop stays free.

    The engine's optimizer is never called: it builds an HNSW graph while it holds Python's global
    lock, and with it the whole flow (seen: 1 s at 10,000 points, 24 s at 100,000). Without it a
    search reads all vectors of its scope, which takes 1 ms for 10,000 and 10 ms for 100,000.
    """

    def __init__(
        self, shard: edge.EdgeShard, dimensions: int, executor: ThreadPoolExecutor
    ) -> None:
        self._shard = shard
        self._dimensions = dimensions
        self._executor = executor
        self._written = 0

    async def _run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, functools.partial(work, *args, **kwargs))

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; they are in the write-ahead log when this returns."""
        if points:
            await self._run(self._upsert, scope, points)

    def _upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        self._shard.update(
            edge.UpdateOperation.upsert_points([self._point(scope, point) for point in points])
        )
        self._written += len(points)
        if self._written >= _FLUSH_EVERY:
            self._shard.flush()
            self._written = 0

    def _point(self, scope: Scope, point: Point) -> edge.Point:
        return edge.Point(
            stored_id(scope, point.id),
            {
                DENSE: checked(point.vector, self._dimensions),
                SPARSE: encode_document(point.text),
            },
            stored_payload(scope, point),
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
        own_words = edge.SearchParams(idf=edge.IdfParams(corpus=_filter(scope, None)))
        request = edge.QueryRequest(
            limit=limit,
            query=cast("edge.Fusion", edge.Fusion.Rrf(k=RRF_K)),  # the stub forgets the base
            prefetches=[
                edge.Prefetch(limit=limit * AHEAD, query=query, filter=within, params=params)
                for query, params in (
                    (self._nearest(vector), None),
                    (edge.Query.Nearest(encode_query(text), using=SPARSE), own_words),
                )
            ],
            with_payload=True,
        )
        return [_hit(point, point.score) for point in await self._run(self._shard.query, request)]

    async def similar(
        self, scope: Scope, vector: Vector, limit: int, where: Payload | None = None
    ) -> list[Hit]:
        """Find by meaning alone; best first, `similarity` set."""
        request = edge.QueryRequest(
            limit=limit,
            query=self._nearest(vector),
            filter=_filter(scope, where),
            with_payload=True,
        )
        return [
            _hit(point, point.score, similarity=point.score)
            for point in await self._run(self._shard.query, request)
        ]

    def _nearest(self, vector: Vector) -> edge.Query:
        return edge.Query.Nearest(checked(vector, self._dimensions), using=DENSE)

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id, in the order asked for; those that are not there are left out."""
        wanted = {stored_id(scope, each): place for place, each in enumerate(dict.fromkeys(ids))}
        if not wanted:
            return []
        records = await self._run(self._shard.retrieve, list(wanted), True, False)
        return list(map(_hit, sorted(records, key=lambda record: wanted[str(record.id)])))

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope, beginning behind `after`."""
        request = edge.ScrollRequest(
            offset=None if after is None else stored_id(scope, after),
            limit=limit if after is None else limit + 1,  # the offset is inclusive
            filter=_filter(scope, None),
            with_payload=True,
        )
        records, _ = await self._run(self._shard.scroll, request)
        return [hit for hit in map(_hit, records) if hit.id != after][:limit]

    async def count(self, scope: Scope | None = None, where: Payload | None = None) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        request = edge.CountRequest(exact=True, filter=_filter(scope, where))
        return await self._run(self._shard.count, request)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        return await self._run(self._delete, list({stored_id(scope, each) for each in ids}))

    def _delete(self, stored: Sequence[str]) -> int:
        number = len(self._shard.retrieve(list(stored), False, False)) if stored else 0
        if number:
            self._shard.update(edge.UpdateOperation.delete_points(list(stored)))
        return number

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        return await self._run(self._delete_all, _filter(scope, None))

    def _delete_all(self, within: edge.Filter) -> int:
        number = self._shard.count(edge.CountRequest(exact=True, filter=within))
        self._shard.update(edge.UpdateOperation.delete_points_by_filter(within))
        return number


def _filter(scope: Scope | None, where: Payload | None) -> edge.Filter:
    # Strings only: the engine's MatchValue does not find booleans.
    must: list[edge.ConditionType] = [
        edge.FieldCondition(key=key, match=edge.MatchValue(value))
        for key, value in (where or {}).items()
    ]
    if scope is not None:
        must.append(edge.FieldCondition(key=SCOPE, match=edge.MatchValue(scope.key)))
    return edge.Filter(must=must)


def _hit(
    record: edge.Record | edge.ScoredPoint, score: float = 0.0, similarity: float | None = None
) -> Hit:
    payload = record.payload or {}
    return Hit(payload[ID], score, own_payload(payload), similarity)


@asynccontextmanager
async def open_edge(
    directory: Path, dimensions: int, indexed: Sequence[str]
) -> AsyncGenerator[EdgeVectorStore]:
    """Open or create the shard in `directory`, with an index on each of the payload fields.

    Raises:
        StartupError: another process has the shard open, it keeps vectors of other dimensions, or
            the directory cannot be used.
    """
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix=f"edge-{directory.name}") as executor:
        shard = await loop.run_in_executor(executor, _open, directory, dimensions, indexed)
        try:
            yield EdgeVectorStore(shard, dimensions, executor)
        finally:
            await loop.run_in_executor(executor, _close, shard)


def _open(directory: Path, dimensions: int, indexed: Sequence[str]) -> edge.EdgeShard:
    config = edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Cosine)},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        shard = edge.EdgeShard.load(str(directory), config)  # also creates what is not there
    except Exception as error:  # the engine raises nothing more special
        raise StartupError(_why(directory, dimensions, str(error))) from error
    known = shard.info().payload_schema
    for field in (SCOPE, *indexed):
        if field not in known:
            kind = edge.KeywordIndexParams(is_tenant=field == SCOPE)
            shard.update(edge.UpdateOperation.create_field_index(field, kind))
    return shard


def _why(directory: Path, dimensions: int, error: str) -> str:
    if "WouldBlock" in error:
        return f"the vectors in {directory} are in use by another process: stop that one first"
    if "expected vector size" in error:
        return (
            f"the vectors in {directory} were made by another embedding model than the flow's, "
            f"whose vectors have {dimensions} dimensions: name the model that made them, or move "
            f"the directory away to begin anew ({error})"
        )
    return f"the vectors in {directory} cannot be opened: {error}"


def _close(shard: edge.EdgeShard) -> None:
    shard.flush()
    shard.close()
