"""The index of the memos in the vectors: a collection of its own, so that none is an entry.

What is in it can be made from the graph at any time. A point whose memo the graph has not got, for
a moment or after a crash, is never found: who searches reads the memos from the graph.
"""

import asyncio
import logging
from collections.abc import Sequence

from fourtier.engines.completeness import IndexCompleteness
from fourtier.engines.timestamps import parse_time
from fourtier.memory.archive.index import REBUILD
from fourtier.memory.archive.memo_store import MemoStore
from fourtier.memory.archive.memos import Memo
from fourtier.models.embeddings.client import Embed
from fourtier.models.text.tokens import clip
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.service.stores.query import DenseLeg, Equals, Leg, MinMax, SparseLeg
from fourtier.runtime.service.stores.schemas import Collection, Fields, SparseField
from fourtier.runtime.service.stores.vectors import Point, VectorStore
from fourtier.schema.archive import ListMemosRequest
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

MEMOS = Collection(
    "archive-memos",
    Fields(keywords=("source",), sparse=(SparseField("sparse", average_length=60),)),
    rebuild=REBUILD,
)
#: Tokens that are embedded of a memo; the bundled model reads no more.
_EMBEDDED = 250
#: Characters of a query that are searched by; models read less.
_MAX_QUERY = 8_000


class MemoIndex:
    """Writes memos to the vectors, and finds those that are like a query."""

    def __init__(
        self, store: MemoStore, vectors: VectorStore, embed: Embed, embedding_seconds: float
    ) -> None:
        self._store = store
        self.completeness = IndexCompleteness("the index of the memos", REBUILD, self._numbers)
        self._vectors = vectors
        self._embed = embed
        self._embedding_seconds = embedding_seconds

    async def write(self, memos: Sequence[Memo]) -> None:
        """Write the points of memos over what is there."""
        if not memos:
            return
        vectors = await self._embed([clip(memo.text, _EMBEDDED) for memo in memos])
        by_scope: dict[Scope, list[Point]] = {}
        for memo, vector in zip(memos, vectors, strict=True):
            day = parse_time(memo.ended_at)
            text = f"{memo.text} ({day.day} {day:%B %Y})"
            point = Point.of(memo.id, vector, text, {"source": memo.source.name})
            by_scope.setdefault(memo.source.scope, []).append(point)
        for scope, points in by_scope.items():
            await self._vectors.upsert(scope, points)

    async def delete(self, scope: Scope, memos: Sequence[Memo]) -> None:
        """Delete the points of memos."""
        await self.delete_ids(scope, [memo.id for memo in memos])

    async def delete_ids(self, scope: Scope, ids: Sequence[str]) -> None:
        """Delete the points of memos, which need not be there."""
        if ids:
            await self._vectors.delete(scope, ids)

    async def search(self, request: ListMemosRequest) -> tuple[list[str], dict[str, str]]:
        """The ids of memos, best first; and by what could not be searched, with the reason.

        Raises:
            UnavailableError: the index was lost, and is not made again yet.
        """
        await self.completeness.require()
        query = request.query[:_MAX_QUERY]
        legs: list[Leg] = [SparseLeg(query)]
        left_out: dict[str, str] = {}
        try:
            async with asyncio.timeout(self._embedding_seconds):
                vector = request.embedding or (await self._embed([query]))[0]
            legs.append(DenseLeg(vector))
        except (TimeoutError, FourtierError) as error:
            left_out = {"meaning": str(error) or "no answer in time"}
            log.warning("Memos are searched by words alone: %s", left_out["meaning"])
        where = [Equals("source", request.source)] if request.source else []
        hits = await self._vectors.query(request.scope, legs, request.limit, where, fusion=MinMax())
        return [hit.id for hit in hits], left_out

    async def _numbers(self) -> tuple[int, int]:
        """Memos, and their points."""
        return await self._store.number(), await self._vectors.count()
