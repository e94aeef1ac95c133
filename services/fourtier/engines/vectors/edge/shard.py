"""A shard of Qdrant Edge on disk: opened with its indexes, closed, copied."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as edge

from fourtier.engines.replacing import draft_of, remove_leftovers
from fourtier.engines.vectors.points import SCOPE
from fourtier.runtime.service.stores.schemas import Fields

#: Points that are copied while searches wait: 60 ms for those of 384 dimensions.
_CHUNK = 250
#: The write-ahead log grows until a flush (25 ms), and is replayed after a crash.
FLUSH_EVERY = 5_000


class LostPointsError(Exception):
    """A copy would not have what the shard should have."""


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """Where a shard is and what it is made for.

    Attributes:
        directory: of the shard alone.
        dimensions: of the dense vectors.
        fields: of its points.
    """

    directory: Path
    dimensions: int
    fields: Fields

    def open(self, directory: Path | None = None) -> edge.EdgeShard:
        """Open the shard, or another one of the same layout; also create what is not there."""
        path = directory or self.directory
        dense = edge.EdgeVectorParams(size=self.dimensions, distance=edge.Distance.Cosine)
        sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
        config = edge.EdgeConfig(
            vectors=dict.fromkeys(self.fields.dense, dense),
            sparse_vectors={field.name: sparse for field in self.fields.sparse},
        )
        path.mkdir(parents=True, exist_ok=True)
        shard = edge.EdgeShard.load(str(path), config)
        known = shard.info().payload_schema
        for field, kind in self._indexes().items():
            if field not in known:
                shard.update(edge.UpdateOperation.create_field_index(field, kind))
        return shard

    def _indexes(self) -> "dict[str, edge.PayloadSchemaParams]":
        """By payload field; the scope is what tells tenants apart."""
        return {
            SCOPE: edge.KeywordIndexParams(is_tenant=True),
            **{field: edge.KeywordIndexParams() for field in self.fields.keywords},
            **{field: edge.DatetimeIndexParams() for field in self.fields.dates},
            **{field: edge.IntegerIndexParams() for field in self.fields.numbers},
        }


class ShardCopy:
    """A copy in the making, in a draft beside the shard. All of it runs in the shard's thread.

    Between two parts of the copy the shard goes on: what is written to it is written to the copy
    as well, whether or not the copy has come to that point.
    """

    def __init__(self, layout: ShardLayout) -> None:
        self._layout = layout
        remove_leftovers(layout.directory)
        self._shard = layout.open(draft_of(layout.directory))
        self._next: edge.PointId | None = None
        self._unflushed = 0
        self._is_open = True

    def take(self, source: edge.EdgeShard) -> bool:
        """Copy the next points; returns whether there are more.

        Raises:
            LostPointsError: a point has lost its payload or its vector.
        """
        request = edge.ScrollRequest(
            offset=self._next, limit=_CHUNK, with_payload=True, with_vector=True
        )
        records, self._next = source.scroll(request)
        if records:
            points = [_point(record) for record in records]
            self._shard.update(edge.UpdateOperation.upsert_points(points))
        self._unflushed += len(records)
        if self._unflushed >= FLUSH_EVERY:
            self._unflushed = 0
            self._shard.flush()
        return self._next is not None

    def update(self, operation: Callable[[edge.EdgeShard], edge.UpdateOperation]) -> None:
        """Do to the copy what was done to the shard."""
        self._shard.update(operation(self._shard))

    def close(self, source: edge.EdgeShard) -> None:
        """Write everything, and see that the copy is complete.

        Raises:
            LostPointsError: it has another number of points than the shard.
        """
        everything = edge.CountRequest(exact=True)
        expected, found = source.count(everything), self._shard.count(everything)
        self._is_open = False
        close_shard(self._shard)
        if found != expected:
            raise LostPointsError(f"{found} of {expected} points were copied")

    def discard(self) -> None:
        """Give the copy up."""
        if self._is_open:
            self._shard.close()
        remove_leftovers(self._layout.directory)


def close_shard(shard: edge.EdgeShard) -> None:
    """Write everything and let go of the files."""
    shard.flush()
    shard.close()


def _point(record: edge.Record) -> edge.Point:
    if not isinstance(record.vector, dict) or SCOPE not in (record.payload or {}):
        raise LostPointsError(f"the point {record.id} has lost its payload or its vector")
    return edge.Point(record.id, record.vector, record.payload)
