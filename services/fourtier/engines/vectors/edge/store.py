"""Qdrant Edge: Qdrant's storage engine in this process, one shard directory."""

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar, cast

import qdrant_edge as edge

from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest
from fourtier.engines.vectors.points import (
    DENSE,
    SCOPE,
    SPARSE,
    Conditions,
    hit,
    stored_point,
)
from fourtier.engines.vectors.protocol import Hit, Point
from fourtier.engines.vectors.shared import RRF_K, HybridQuery, SharedVectorStore
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.schema.message import Scope

P = ParamSpec("P")
R = TypeVar("R")

#: The write-ahead log grows until a flush (25 ms), and is replayed after a crash.
_FLUSH_EVERY = 5_000
#: Points that are looked at after a crash.
_SAMPLE = 256
#: What the engine says of pages that cannot be what it has written.
_DAMAGE = ("Failed to decode", "Failed to decompress", "orrupt")


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
        *,
        limit: TimeLimit,
        manifest: Manifest,
        disk: DiskReserve | None = None,
    ) -> None:
        super().__init__(dimensions)
        self._shard = shard
        self._executor = executor
        self._limit = limit
        self._manifest = manifest
        self._disk = disk
        self._damage: UnavailableError | None = None
        self._written = 0

    async def _run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call of the engine in its thread.

        Raises:
            UnavailableError: it takes longer than the time limit, or the shard is damaged.
        """
        loop = asyncio.get_running_loop()
        call = functools.partial(self._guarded, functools.partial(work, *args, **kwargs))
        async with self._limit.applied():
            return await loop.run_in_executor(self._executor, call)

    async def _change(self, operation: Callable[[], edge.UpdateOperation]) -> None:
        """Make an operation in the thread, and carry it out.

        Raises:
            UnavailableError: as `_run`, or the disk is nearly full.
        """
        if self._disk is not None:
            self._disk.check_write()
        await self._run(lambda: self._shard.update(operation()))

    def _guarded(self, call: Callable[[], R]) -> R:
        """Tell damage from other errors; the engine has one class for all, and panics."""
        if self._damage is not None:
            raise self._damage
        try:
            return call()
        except BaseException as error:
            if not is_panic(error) and not any(map(str(error).__contains__, _DAMAGE)):
                raise
            raise self._found_damaged(error) from error

    def _found_damaged(self, reason: object) -> UnavailableError:
        self._damage = self._manifest.damaged(reason)
        return self._damage

    @property
    def damaged(self) -> bool:
        """Whether the shard turned out to be damaged."""
        return self._damage is not None

    async def verify(self) -> None:
        """See that points are found by the index that every search uses, as after a crash.

        Raises:
            StartupError: they are not.
        """
        try:
            await self._run(self._verify)
        except UnavailableError as error:
            raise StartupError(str(error)) from error

    def _verify(self) -> None:
        request = edge.ScrollRequest(limit=_SAMPLE, with_payload=True, with_vector=True)
        records, _ = self._shard.scroll(request)
        for record in records:
            if SCOPE not in (record.payload or {}) or not record.vector:
                raise self._found_damaged(f"the point {record.id} has lost its payload")
        scopes = Counter(record.payload[SCOPE] for record in records if record.payload)
        for scope, number in scopes.items():
            request_count = edge.CountRequest(exact=True, filter=_filter([(SCOPE, scope)]))
            if self._shard.count(request_count) < number:
                raise self._found_damaged("its index of scopes has lost points")

    def _hits(self, records: Iterable[edge.Record]) -> list[Hit]:
        try:
            return [hit(record.payload) for record in records]
        except KeyError as error:
            raise self._found_damaged("a point has lost its payload") from error

    def _scored(self, points: Iterable[edge.ScoredPoint], *, by_cosine: bool) -> list[Hit]:
        try:
            return [
                hit(point.payload, point.score, point.score if by_cosine else None)
                for point in points
            ]
        except KeyError as error:
            raise self._found_damaged("a point has lost its payload") from error

    async def _write(self, scope: Scope, points: Sequence[Point]) -> None:
        """They are in the write-ahead log when this returns."""

        def upsert() -> edge.UpdateOperation:
            stored = [_point(scope, point, self._dimensions) for point in points]
            return edge.UpdateOperation.upsert_points(stored)

        await self._change(upsert)
        self._written += len(points)
        if self._written >= _FLUSH_EVERY:
            self._written = 0
            await self._run(self._shard.flush)

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
        return self._scored(await self._run(self._shard.query, request), by_cosine=False)

    async def _nearest(self, dense: list[float], limit: int, within: Conditions) -> list[Hit]:
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(dense, using=DENSE),
            filter=_filter(within),
            with_payload=True,
        )
        return self._scored(await self._run(self._shard.query, request), by_cosine=True)

    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        records = await self._run(self._shard.retrieve, list(stored_ids), True, False)
        return self._hits(records)

    async def _page(self, within: Conditions, limit: int, begin_at: str | None) -> list[Hit]:
        request = edge.ScrollRequest(
            offset=begin_at, limit=limit, filter=_filter(within), with_payload=True
        )
        records, _ = await self._run(self._shard.scroll, request)
        return self._hits(records)

    async def _count(self, within: Conditions) -> int:
        request = edge.CountRequest(exact=True, filter=_filter(within))
        return await self._run(self._shard.count, request)

    async def _delete(self, stored_ids: Sequence[str]) -> None:
        await self._change(lambda: edge.UpdateOperation.delete_points(list(stored_ids)))

    async def _delete_matching(self, within: Conditions) -> None:
        within_filter = _filter(within)
        await self._change(lambda: edge.UpdateOperation.delete_points_by_filter(within_filter))


def is_panic(error: BaseException) -> bool:
    """Whether the engine has run into what it takes for impossible; its class is not public."""
    return type(error).__name__ == "PanicException"


def _point(scope: Scope, point: Point, dimensions: int) -> edge.Point:
    stored = stored_point(scope, point, dimensions)
    return edge.Point(stored.id, {DENSE: stored.dense, SPARSE: stored.sparse}, stored.payload)


def _filter(conditions: Conditions) -> edge.Filter:
    # Strings only: the engine's MatchValue does not find booleans.
    must: list[edge.ConditionType] = [
        edge.FieldCondition(key=key, match=edge.MatchValue(value)) for key, value in conditions
    ]
    return edge.Filter(must=must)
