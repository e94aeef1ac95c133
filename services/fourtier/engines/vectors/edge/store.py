"""Qdrant Edge: Qdrant's storage engine in this process, one shard directory."""

import asyncio
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar, cast

import qdrant_edge as edge

from fourtier.engines.limits import TimeLimit
from fourtier.engines.vectors.points import DENSE, SPARSE, Conditions, hit, stored_point
from fourtier.engines.vectors.protocol import Hit, Point
from fourtier.engines.vectors.shared import RRF_K, HybridQuery, SharedVectorStore
from fourtier.schema.message import Scope

P = ParamSpec("P")
R = TypeVar("R")

#: The write-ahead log grows until a flush (25 ms), and is replayed after a crash.
_FLUSH_EVERY = 5_000


class EdgeVectorStore(SharedVectorStore):
    """A shard. Its calls run in one thread: the engine is fast, the event loop stays free.

    The engine's optimizer is never called: it builds an HNSW graph while it holds Python's global
    lock, and with it the whole flow (seen: 1 s at 10,000 points, 24 s at 100,000). Without it a
    search reads all vectors of its scope, which takes 1 ms for 10,000 and 10 ms for 100,000.

    The engine cannot interrupt a call: one that takes longer than the time limit fails for its
    caller, while its thread goes on. Calls that wait behind it are not begun after their limit.
    """

    def __init__(
        self,
        shard: edge.EdgeShard,
        dimensions: int,
        executor: ThreadPoolExecutor,
        limit: TimeLimit,
    ) -> None:
        super().__init__(dimensions)
        self._shard = shard
        self._executor = executor
        self._limit = limit
        self._written = 0

    async def _run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        call = functools.partial(work, *args, **kwargs)
        async with self._limit.applied():
            return await loop.run_in_executor(self._executor, call)

    async def _write(self, scope: Scope, points: Sequence[Point]) -> None:
        """They are in the write-ahead log when this returns."""
        await self._run(self._upsert, scope, points)

    def _upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        stored = [_point(scope, point, self._dimensions) for point in points]
        self._shard.update(edge.UpdateOperation.upsert_points(stored))
        self._written += len(points)
        if self._written >= _FLUSH_EVERY:
            self._shard.flush()
            self._written = 0

    async def _hybrid(self, query: HybridQuery) -> list[Hit]:
        within = _filter(query.within)
        own_words = edge.SearchParams(idf=edge.IdfParams(corpus=_filter(query.corpus)))
        by_meaning = edge.Prefetch(
            limit=query.ahead, query=edge.Query.Nearest(query.dense, using=DENSE), filter=within
        )
        by_words = edge.Prefetch(
            limit=query.ahead,
            query=edge.Query.Nearest(query.sparse, using=SPARSE),
            filter=within,
            params=own_words,
        )
        request = edge.QueryRequest(
            limit=query.limit,
            query=cast("edge.Fusion", edge.Fusion.Rrf(k=RRF_K)),  # the stub forgets the base
            prefetches=[by_meaning, by_words],
            with_payload=True,
        )
        found = await self._run(self._shard.query, request)
        return [hit(point.payload, point.score) for point in found]

    async def _nearest(self, dense: list[float], limit: int, within: Conditions) -> list[Hit]:
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(dense, using=DENSE),
            filter=_filter(within),
            with_payload=True,
        )
        found = await self._run(self._shard.query, request)
        return [hit(point.payload, point.score, similarity=point.score) for point in found]

    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        records = await self._run(self._shard.retrieve, list(stored_ids), True, False)
        return [hit(record.payload) for record in records]

    async def _page(self, within: Conditions, limit: int, begin_at: str | None) -> list[Hit]:
        request = edge.ScrollRequest(
            offset=begin_at, limit=limit, filter=_filter(within), with_payload=True
        )
        records, _ = await self._run(self._shard.scroll, request)
        return [hit(record.payload) for record in records]

    async def _count(self, within: Conditions) -> int:
        request = edge.CountRequest(exact=True, filter=_filter(within))
        return await self._run(self._shard.count, request)

    async def _delete(self, stored_ids: Sequence[str]) -> None:
        operation = edge.UpdateOperation.delete_points(list(stored_ids))
        await self._run(self._shard.update, operation)

    async def _delete_matching(self, within: Conditions) -> None:
        operation = edge.UpdateOperation.delete_points_by_filter(_filter(within))
        await self._run(self._shard.update, operation)


def _point(scope: Scope, point: Point, dimensions: int) -> edge.Point:
    stored = stored_point(scope, point, dimensions)
    return edge.Point(stored.id, {DENSE: stored.dense, SPARSE: stored.sparse}, stored.payload)


def _filter(conditions: Conditions) -> edge.Filter:
    # Strings only: the engine's MatchValue does not find booleans.
    must: list[edge.ConditionType] = [
        edge.FieldCondition(key=key, match=edge.MatchValue(value)) for key, value in conditions
    ]
    return edge.Filter(must=must)
