"""Qdrant Edge: Qdrant's storage engine in this process, one shard directory."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import qdrant_edge as edge

from fourtier.engines.erasing import DEFAULT_SCHEDULE, Eraser, ErasureSchedule
from fourtier.engines.limits import TimeLimit
from fourtier.engines.manifest import Manifest
from fourtier.engines.replacing import finish_replacing, remove_leftovers, replace_directory
from fourtier.engines.vectors.edge import requests
from fourtier.engines.vectors.edge.requests import filter_of
from fourtier.engines.vectors.edge.shard import (
    FLUSH_EVERY,
    ShardCopy,
    ShardLayout,
    close_shard,
)
from fourtier.engines.vectors.points import SCOPE, StoredPoint, hit, stored_point
from fourtier.engines.vectors.shared import EncodedLeg, Search, SharedVectorStore
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.query import Equals, Where
from fourtier.runtime.service.stores.vectors import Facet, Hit, Point
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

R = TypeVar("R")

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

    Whatever is deleted stays in the files until the shard is rewritten (`erase`): in the log, the
    payloads, the indexes of payload fields and the vectors. The engine's own vacuum leaves small
    shards as they are, and builds HNSW graphs for others.
    """

    def __init__(
        self,
        shard: edge.EdgeShard,
        layout: ShardLayout,
        executor: ThreadPoolExecutor,
        *,
        limit: TimeLimit,
        manifest: Manifest,
        disk: DiskReserve | None = None,
        erasure: ErasureSchedule = DEFAULT_SCHEDULE,
    ) -> None:
        super().__init__(layout.dimensions, layout.fields)
        self.eraser = Eraser(manifest, self._rewrite, erasure)
        self._shard = shard
        self._copy: ShardCopy | None = None
        self._layout = layout
        self._executor = executor
        self._limit = limit
        self._manifest = manifest
        self._disk = disk
        self._damage: UnavailableError | None = None
        self._written = 0

    async def _run(self, work: Callable[[edge.EdgeShard], R]) -> R:
        """Run a call of the engine in its thread, on the shard of that time.

        Raises:
            UnavailableError: it takes longer than the time limit, or the shard is damaged.
        """
        async with self._limit.applied():
            return await self._in_thread(lambda: work(self._shard))

    async def _in_thread(self, work: Callable[[], R]) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._guarded, work)

    async def _change(
        self, operation: Callable[[edge.EdgeShard], edge.UpdateOperation], *, deletes: bool = False
    ) -> None:
        """Make an operation for the shard in the thread, and carry it out; so too for a copy.

        Raises:
            UnavailableError: as `_run`, or the disk is nearly full.
        """

        def change(shard: edge.EdgeShard) -> None:
            shard.update(operation(shard))
            if self._copy is not None:
                self._update_copy(self._copy, operation)

        if self._disk is not None:
            self._disk.check_write()
        async with self.eraser.writing(deletes=deletes):
            await self._run(change)

    def _update_copy(
        self, copy: ShardCopy, operation: Callable[[edge.EdgeShard], edge.UpdateOperation]
    ) -> None:
        """A copy that misses something is of no use; what was written is written all the same."""
        try:
            copy.update(operation)
        except Exception:
            log.exception("The copy of %s cannot be written.", self._layout.directory)
            self._copy = None
            copy.discard()

    async def erase(self) -> tuple[Remainder, ...]:
        """Copy the points into new files; afterwards nothing of what was deleted remains.

        Raises:
            UnavailableError: there is no room for a copy.
        """
        await self.eraser.erase()
        return ()

    async def _rewrite(self) -> None:
        if self._damage is not None:
            raise self._damage
        if self._disk is not None:
            self._disk.check_write()
        copy = await self._in_thread(self._begin_copy)
        try:
            while await self._in_thread(lambda: self._continue_copy(copy)):
                if self._disk is not None:
                    self._disk.check_write()
            await self._in_thread(lambda: self._change_over(copy))
        finally:
            await self._in_thread(self._end_copy)

    def _begin_copy(self) -> ShardCopy:
        self._copy = ShardCopy(self._layout)
        return self._copy

    def _continue_copy(self, copy: ShardCopy) -> bool:
        if self._copy is None:
            raise UnavailableError(f"the copy of {self._layout.directory} cannot be written")
        return copy.take(self._shard)

    def _change_over(self, copy: ShardCopy) -> None:
        """Close both, put the copy in the shard's place, and open it."""
        if self._copy is None:
            raise UnavailableError(f"the copy of {self._layout.directory} cannot be written")
        copy.close(self._shard)
        self._copy = None
        close_shard(self._shard)
        try:
            replace_directory(self._layout.directory)
        finally:
            finish_replacing(self._layout.directory)
            self._shard = self._layout.open()
            remove_leftovers(self._layout.directory)

    def _end_copy(self) -> None:
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.discard()

    async def close(self) -> None:
        """Write everything and let go of the files."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, lambda: close_shard(self._shard))

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

    def _verify(self, shard: edge.EdgeShard) -> None:
        request = edge.ScrollRequest(limit=_SAMPLE, with_payload=True, with_vector=True)
        records, _ = shard.scroll(request)
        for record in records:
            if SCOPE not in (record.payload or {}) or not record.vector:
                raise self._found_damaged(f"the point {record.id} has lost its payload")
        scopes = Counter(record.payload[SCOPE] for record in records if record.payload)
        for scope, number in scopes.items():
            request_count = edge.CountRequest(exact=True, filter=filter_of([Equals(SCOPE, scope)]))
            if shard.count(request_count) < number:
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

        def upsert(_shard: edge.EdgeShard) -> edge.UpdateOperation:
            stored = [stored_point(scope, each, self._dimensions, self._fields) for each in points]
            return edge.UpdateOperation.upsert_points([_point(each) for each in stored])

        await self._change(upsert)
        self._written += len(points)
        if self._written >= FLUSH_EVERY:
            self._written = 0
            await self._run(edge.EdgeShard.flush)

    async def _set_fields(self, points: Sequence[StoredPoint]) -> None:
        def update(shard: edge.EdgeShard) -> edge.UpdateOperation:
            # The engine changes none of the points if one is not there, as in half a copy.
            found = shard.retrieve([point.id for point in points], False, False)
            there = {str(record.id) for record in found}
            return edge.UpdateOperation.update_vectors(
                [
                    edge.PointVectors(point.id, _vectors(point))
                    for point in points
                    if point.id in there
                ]
            )

        await self._change(update)

    async def _ranked(self, leg: EncodedLeg, search: Search) -> list[Hit]:
        request = requests.ranked(leg, search)
        return self._scored(
            await self._run(lambda shard: shard.query(request)), by_cosine=leg.dense
        )

    async def _fused(self, legs: Sequence[EncodedLeg], k: int, search: Search) -> list[Hit]:
        request = requests.fused(legs, k, search)
        return self._scored(await self._run(lambda shard: shard.query(request)), by_cosine=False)

    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        records = await self._run(lambda shard: shard.retrieve(list(stored_ids), True, False))
        return self._hits(records)

    async def _page(self, within: Where, limit: int, begin_at: str | None) -> list[Hit]:
        request = edge.ScrollRequest(
            offset=begin_at, limit=limit, filter=filter_of(within), with_payload=True
        )
        records, _ = await self._run(lambda shard: shard.scroll(request))
        return self._hits(records)

    async def _count(self, within: Where) -> int:
        request = edge.CountRequest(exact=True, filter=filter_of(within))
        return await self._run(lambda shard: shard.count(request))

    async def _facet(self, field: str, limit: int, within: Where) -> list[Facet]:
        request = edge.FacetRequest(field, limit=limit, exact=True, filter=filter_of(within))
        found = await self._run(lambda shard: shard.facet(request))
        return [Facet(str(each.value), each.count) for each in found.hits]

    async def _delete(self, stored_ids: Sequence[str]) -> None:
        await self._change(
            lambda _: edge.UpdateOperation.delete_points(list(stored_ids)), deletes=True
        )

    async def _delete_matching(self, within: Where) -> None:
        within_filter = filter_of(within)
        await self._change(
            lambda _: edge.UpdateOperation.delete_points_by_filter(within_filter), deletes=True
        )


def is_panic(error: BaseException) -> bool:
    """Whether the engine has run into what it takes for impossible; its class is not public."""
    return type(error).__name__ == "PanicException"


def _point(stored: StoredPoint) -> edge.Point:
    return edge.Point(stored.id, _vectors(stored), stored.payload)


def _vectors(stored: StoredPoint) -> "dict[str, edge.NamedVector]":
    return {**stored.dense, **stored.sparse}
