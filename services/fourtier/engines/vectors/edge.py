"""Qdrant Edge: Qdrant's storage engine in this process, one shard directory."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import qdrant_edge as edge

from fourtier.engines.vectors.protocol import Hit, Payload, Point
from fourtier.engines.vectors.sparse import encode_document, encode_query
from fourtier.schema.message import Scope, Vector

P = ParamSpec("P")
R = TypeVar("R")

_DENSE, _SPARSE, _SCOPE = "dense", "sparse", "scope"
#: Reciprocal rank fusion constant of Cormack, Clarke and Buettcher (SIGIR 2009).
_RRF_K = 60
#: Each of the two searches hands this many times the asked number to the fusion.
_AHEAD = 4
#: The engine leaves merging and indexing to its user; do so after this many writes.
_OPTIMIZE_EVERY = 5_000


class EdgeVectorStore:
    """A shard. Its calls run in one thread: the engine is fast, the event loop stays free."""

    def __init__(self, shard: edge.EdgeShard, executor: ThreadPoolExecutor) -> None:
        self._shard = shard
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
            edge.UpdateOperation.upsert_points(
                [
                    edge.Point(
                        point.id,
                        {
                            _DENSE: point.vector.floats(),
                            _SPARSE: encode_document(point.text),
                        },
                        {**point.payload, _SCOPE: scope.key},
                    )
                    for point in points
                ]
            )
        )
        self._written += len(points)
        if self._written >= _OPTIMIZE_EVERY:
            self._shard.optimize()
            self._written = 0

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
        request = edge.QueryRequest(
            limit=limit,
            query=cast("edge.Fusion", edge.Fusion.Rrf(k=_RRF_K)),  # the stub forgets the base
            prefetches=[
                edge.Prefetch(limit=limit * _AHEAD, query=query, filter=within)
                for query in (
                    edge.Query.Nearest(vector.floats(), using=_DENSE),
                    edge.Query.Nearest(encode_query(text), using=_SPARSE),
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
            query=edge.Query.Nearest(vector.floats(), using=_DENSE),
            filter=_filter(scope, where),
            with_payload=True,
        )
        return [
            _hit(point, point.score, similarity=point.score)
            for point in await self._run(self._shard.query, request)
        ]

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id; those that the scope does not have are left out."""
        if not ids:
            return []
        records = await self._run(self._shard.retrieve, list(ids), True, False)
        hits = [_hit(record) for record in records if _belongs(record, scope)]
        order = {point_id: place for place, point_id in enumerate(ids)}
        return sorted(hits, key=lambda hit: order[hit.id])

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope in the order of ids, beginning behind `after`."""
        request = edge.ScrollRequest(
            offset=after,
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
        mine = [hit.id for hit in await self.get(scope, ids)]
        if mine:
            await self._run(self._shard.update, edge.UpdateOperation.delete_points(list(mine)))
        return len(mine)

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        number = await self.count(scope)
        await self._run(
            self._shard.update,
            edge.UpdateOperation.delete_points_by_filter(_filter(scope, None)),
        )
        return number


def _filter(scope: Scope | None, where: Payload | None) -> edge.Filter:
    must: list[edge.ConditionType] = [
        edge.FieldCondition(key=key, match=edge.MatchValue(value))
        for key, value in (where or {}).items()
    ]
    if scope is not None:
        must.append(edge.FieldCondition(key=_SCOPE, match=edge.MatchValue(scope.key)))
    return edge.Filter(must=must)


def _belongs(record: edge.Record, scope: Scope) -> bool:
    return (record.payload or {}).get(_SCOPE) == scope.key


def _hit(
    record: edge.Record | edge.ScoredPoint, score: float = 0.0, similarity: float | None = None
) -> Hit:
    payload = {key: value for key, value in (record.payload or {}).items() if key != _SCOPE}
    return Hit(str(record.id), score, payload, similarity)


@asynccontextmanager
async def open_edge(
    directory: Path, dimensions: int, indexed: Sequence[str]
) -> AsyncGenerator[EdgeVectorStore]:
    """Open or create the shard in `directory`, with an index on each of the payload fields."""
    executor = ThreadPoolExecutor(1, thread_name_prefix=f"edge-{directory.name}")
    loop = asyncio.get_running_loop()
    shard = await loop.run_in_executor(executor, _open, directory, dimensions, indexed)
    try:
        yield EdgeVectorStore(shard, executor)
    finally:
        await loop.run_in_executor(executor, _close, shard)
        executor.shutdown()


def _open(directory: Path, dimensions: int, indexed: Sequence[str]) -> edge.EdgeShard:
    config = edge.EdgeConfig(
        vectors={_DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Cosine)},
        sparse_vectors={_SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    if any(directory.glob("*")):
        return edge.EdgeShard.load(str(directory), config)
    directory.mkdir(parents=True, exist_ok=True)
    shard = edge.EdgeShard.create(str(directory), config)
    shard.update(
        edge.UpdateOperation.create_field_index(_SCOPE, edge.KeywordIndexParams(is_tenant=True))
    )
    for field in indexed:
        shard.update(edge.UpdateOperation.create_field_index(field, edge.KeywordIndexParams()))
    return shard


def _close(shard: edge.EdgeShard) -> None:
    shard.flush()
    shard.close()
