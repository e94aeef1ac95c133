"""What both vector engines do alike; each adds how its library is called."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qdrant_edge import SparseVector

from fourtier.engines.vectors.fusing import explained, grouped, min_max
from fourtier.engines.vectors.points import (
    StoredPoint,
    checked,
    conditions,
    in_order,
    require_fields,
    stored_id,
    stored_point,
)
from fourtier.engines.vectors.sparse import encode_query
from fourtier.runtime.service.stores.query import (
    MIN_CANDIDATES,
    DenseLeg,
    Group,
    Leg,
    MinMax,
    Rrf,
    Where,
)
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Facet, Hit, Point
from fourtier.schema.message import Scope


@dataclass(frozen=True, slots=True)
class EncodedLeg:
    """A leg as both engines take it."""

    name: str
    field: str
    vector: list[float] | SparseVector
    weight: float

    @property
    def dense(self) -> bool:
        """Whether it searches by meaning."""
        return isinstance(self.vector, list)


@dataclass(frozen=True, slots=True)
class Search:
    """What is asked of an engine.

    Attributes:
        limit: how many points at most.
        candidates: how many each leg finds, where there are several.
        within: what every point that is found matches.
        corpus: the points from whose texts the weights of words are taken.
    """

    limit: int
    candidates: int
    within: Where
    corpus: Where


class SharedVectorStore(ABC):
    """A vector store over an engine's primitives, which know no scope but take conditions."""

    def __init__(self, dimensions: int, fields: Fields) -> None:
        self._dimensions = dimensions
        self._fields = fields

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; when this returns they outlive the process."""
        if points:
            await self._write(scope, points)

    async def query(
        self,
        scope: Scope,
        legs: Sequence[Leg],
        limit: int,
        where: Where = (),
        *,
        fusion: Rrf | MinMax = Rrf(),
        candidates: int = MIN_CANDIDATES,
        group: Group | None = None,
        explain: bool = False,
    ) -> list[Hit]:
        """Find by one or several legs; best first."""
        encoded = self._encoded(legs)
        if not encoded:
            return []
        ahead = max(candidates, limit)
        search = Search(
            # What a group leaves out must not leave the answer short.
            limit=limit if group is None else ahead * len(encoded),
            candidates=ahead,
            within=conditions(scope, where),
            corpus=conditions(scope),
        )
        found = await self._found(encoded, search, fusion, explain=explain)
        return (found if group is None else grouped(found, group))[:limit]

    async def _found(
        self, legs: Sequence[EncodedLeg], search: Search, fusion: Rrf | MinMax, *, explain: bool
    ) -> list[Hit]:
        by_scores = isinstance(fusion, MinMax) and len(legs) > 1
        hits: list[Hit] = []
        if isinstance(fusion, Rrf) and len(legs) > 1:
            hits = await self._fused(legs, fusion.k, search)
        elif not by_scores:
            hits = await self._ranked(legs[0], search)
        if not (by_scores or explain):
            return hits
        alone = replace(search, limit=search.candidates)
        found = await asyncio.gather(*(self._ranked(leg, alone) for leg in legs))
        of_legs = {leg.name: of_leg for leg, of_leg in zip(legs, found, strict=True)}
        if by_scores:
            hits = min_max(of_legs, {leg.name: leg.weight for leg in legs})
        return explained(hits, of_legs)

    def _encoded(self, legs: Sequence[Leg]) -> list[EncodedLeg]:
        """The legs that have something to search by.

        Raises:
            PermanentError: a vector does not fit the store.
            ValueError: a leg is none of this collection's, or two have one name.
        """
        sparse = {field.name: field for field in self._fields.sparse}
        require_fields((leg.field for leg in legs if isinstance(leg, DenseLeg)), self._fields.dense)
        require_fields((leg.field for leg in legs if not isinstance(leg, DenseLeg)), sparse)
        names = [leg.name or leg.field for leg in legs]
        if len(set(names)) < len(names):
            raise ValueError(f"two legs have one name: {', '.join(names)}")
        if any(leg.weight <= 0 for leg in legs):
            raise ValueError("the weight of a leg must be positive")
        encoded: list[EncodedLeg] = []
        for name, leg in zip(names, legs, strict=True):
            if isinstance(leg, DenseLeg):
                numbers = checked(leg.vector, self._dimensions)
                encoded.append(EncodedLeg(name, leg.field, numbers, leg.weight))
            elif (words := encode_query(leg.text, sparse[leg.field])).indices:
                encoded.append(EncodedLeg(name, leg.field, words, leg.weight))
        return encoded

    async def set_fields(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write fields of points that are there over what they had."""
        named = {
            point.id: stored_point(scope, point, self._dimensions, self._fields) for point in points
        }
        there = await self.get(scope, list(named))
        if there:
            await self._set_fields([named[hit.id] for hit in there])

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

    async def count(self, scope: Scope | None = None, where: Where = ()) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        return await self._count(conditions(scope, where))

    async def facet(self, scope: Scope, field: str, limit: int, where: Where = ()) -> list[Facet]:
        """Count a scope's points exactly by the values of a keyword field, most frequent first."""
        require_fields([field], self._fields.keywords)
        return await self._facet(field, limit, conditions(scope, where))

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
    async def _set_fields(self, points: Sequence[StoredPoint]) -> None:
        """Write the vectors that points have into those of the same ids, at least one."""

    @abstractmethod
    async def _ranked(self, leg: EncodedLeg, search: Search) -> list[Hit]:
        """Find by one leg; best first, with its own scores."""

    @abstractmethod
    async def _fused(self, legs: Sequence[EncodedLeg], k: int, search: Search) -> list[Hit]:
        """Find by each leg and fuse by weighted reciprocal rank; best first."""

    @abstractmethod
    async def _retrieve(self, stored_ids: Sequence[str]) -> list[Hit]:
        """Read points by the engine's ids, at least one, in any order."""

    @abstractmethod
    async def _page(self, within: Where, limit: int, begin_at: str | None) -> list[Hit]:
        """Read points in the order of the engine's ids, beginning at one of them."""

    @abstractmethod
    async def _count(self, within: Where) -> int:
        """Count exactly."""

    @abstractmethod
    async def _facet(self, field: str, limit: int, within: Where) -> list[Facet]:
        """Count the values of a field exactly; both engines order them as the contract says."""

    @abstractmethod
    async def _delete(self, stored_ids: Sequence[str]) -> None:
        """Delete points by the engine's ids, at least one."""

    @abstractmethod
    async def _delete_matching(self, within: Where) -> None:
        """Delete all points that match."""


def _stored_ids(scope: Scope, ids: Sequence[str]) -> list[str]:
    return [stored_id(scope, each) for each in dict.fromkeys(ids)]
