"""What both vector engines do alike; each adds how its library is called."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from qdrant_edge import SparseVector

from fourtier.engines.vectors.points import Conditions, checked, conditions, in_order, stored_id
from fourtier.engines.vectors.protocol import Hit, Payload, Point
from fourtier.engines.vectors.sparse import encode_query
from fourtier.schema.message import Scope, Vector

#: Constant of reciprocal rank fusion, Qdrant's own default. With the 60 of the literature a point
#: that both searches find far down beats the first of either: of LoCoMo's evidence, facts find
#: 55.1 / 62.4 / 68.3 % among the first 5 / 10 / 20 with 60, and 57.7 / 67.8 / 76.8 % with 2.
RRF_K = 2
#: Each of the two searches hands this many times the asked number to the fusion.
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """A search by meaning and one by words, fused by reciprocal rank.

    Attributes:
        ahead: how many points each of the two searches finds.
        within: what every point that is found matches.
        corpus: the points from whose texts the weights of words are taken.
    """

    dense: list[float]
    sparse: SparseVector
    limit: int
    ahead: int
    within: Conditions
    corpus: Conditions


class SharedVectorStore(ABC):
    """A vector store over an engine's primitives, which know no scope but take conditions."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; when this returns they outlive the process."""
        if points:
            await self._write(scope, points)

    async def search(
        self,
        scope: Scope,
        vector: Vector,
        text: str,
        limit: int,
        where: Payload | None = None,
    ) -> list[Hit]:
        """Find by meaning and by words, fused by reciprocal rank; best first."""
        query = HybridQuery(
            checked(vector, self._dimensions),
            encode_query(text),
            limit,
            limit * _AHEAD,
            conditions(scope, where),
            conditions(scope),
        )
        return await self._hybrid(query)

    async def similar(
        self, scope: Scope, vector: Vector, limit: int, where: Payload | None = None
    ) -> list[Hit]:
        """Find by meaning alone; best first, `similarity` set."""
        dense = checked(vector, self._dimensions)
        return await self._nearest(dense, limit, conditions(scope, where))

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id, in the order asked for; those that are not there are left out."""
        if not ids:
            return []
        return in_order(await self._retrieve(_stored_ids(scope, ids)), ids)

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope, beginning behind `after`."""
        within = conditions(scope)
        if after is None:
            return await self._page(within, limit, None)
        # The engine's page begins with the point itself, not behind it.
        found = await self._page(within, limit + 1, stored_id(scope, after))
        return [each for each in found if each.id != after][:limit]

    async def count(self, scope: Scope | None = None, where: Payload | None = None) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        return await self._count(conditions(scope, where))

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        known = await self.get(scope, ids)
        if known:
            await self._delete(_stored_ids(scope, [each.id for each in known]))
        return len(known)

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        number = await self.count(scope)
        await self._delete_matching(conditions(scope))
        return number

    @abstractmethod
    async def _write(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points, at least one."""

    @abstractmethod
    async def _hybrid(self, query: HybridQuery) -> list[Hit]:
        """Run both searches and fuse them; best first."""

    @abstractmethod
    async def _nearest(self, dense: list[float], limit: int, within: Conditions) -> list[Hit]:
        """Find by cosine similarity; best first."""

    @abstractmethod
    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        """Read points by the engine's ids, at least one, in any order."""

    @abstractmethod
    async def _page(self, within: Conditions, limit: int, begin_at: str | None) -> list[Hit]:
        """Read points in the order of the engine's ids, beginning at one of them."""

    @abstractmethod
    async def _count(self, within: Conditions) -> int:
        """Count exactly."""

    @abstractmethod
    async def _delete(self, stored_ids: Sequence[str]) -> None:
        """Delete points by the engine's ids, at least one."""

    @abstractmethod
    async def _delete_matching(self, within: Conditions) -> None:
        """Delete all points that match."""


def _stored_ids(scope: Scope, ids: Sequence[str]) -> list[str]:
    return [stored_id(scope, each) for each in dict.fromkeys(ids)]
