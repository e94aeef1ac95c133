"""What a service asks of a vector store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.query import (
    MIN_CANDIDATES,
    Group,
    Leg,
    MinMax,
    Rrf,
    Where,
)
from fourtier.schema.message import Scope, Vector

#: Flags are written as "yes" and "no", times in ISO 8601. A keyword may have several values.
Payload = Mapping[str, str | int | list[str]]


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to be found.

    Attributes:
        id: any text; the same id in the same scope again replaces the point.
        vectors: by dense field; a point that lacks one is not found by it.
        texts: by sparse field; their words are searched, and not kept.
        payload: comes back with a hit; every value can be filtered on, fast if its field is one of
            the collection's. The names `scope` and `id` are taken.
    """

    id: str
    vectors: Mapping[str, Vector]
    texts: Mapping[str, str]
    payload: Payload = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, vector: Vector, text: str, payload: Payload | None = None) -> Self:
        """A point with one vector and one text, of a collection with the usual fields."""
        return cls(name, {"dense": vector}, {"sparse": text}, payload or {})


@dataclass(frozen=True, slots=True)
class Found:
    """What one leg found a point by.

    Attributes:
        rank: 1 is the best.
        score: the leg's own, a cosine or the BM25 weight of the words.
    """

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A point that was found.

    Attributes:
        score: the engine's; comparable within one answer only. 0 where nothing was scored.
        similarity: cosine of query and point, -1 to 1; None where no vector was asked for.
        legs: by the names of the legs that found it, how; empty unless it was asked for.
    """

    id: str
    score: float
    payload: Payload
    similarity: float | None = None
    legs: Mapping[str, Found] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a payload field, and how many points have it."""

    value: str
    number: int


class VectorStore(Protocol):
    """Points with dense and sparse vectors, separated by scope.

    The scope is an argument of every method that reads or writes points: it cannot be left out. The
    weight of a word (IDF) is taken from the scope's own texts, so that what one user writes changes
    no score of another.
    """

    async def upsert(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write points; when this returns they outlive the process. The last of one id counts.

        Raises:
            PermanentError: a vector has the wrong number of dimensions or is not finite; then none
                of the points is written.
        """
        ...

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
        """Find by one or several legs; best first.

        A single leg is not fused: the scores are its own, and `similarity` is set if it is dense.

        Args:
            scope: whose points.
            legs: by what; one of words that has no content word finds nothing.
            limit: how many points at most.
            where: what all that is found must match.
            fusion: how what several legs find becomes one ranking.
            candidates: how many points each leg finds at least, whatever the limit is.
            group: how many points of a kind there may be.
            explain: set `legs` of each hit, which costs another search by each leg.

        Raises:
            PermanentError: a vector has the wrong number of dimensions or is not finite.
            ValueError: two legs have one name, a weight is not positive, or a field is not one of
                the collection's.
        """
        ...

    async def set_fields(self, scope: Scope, points: Sequence[Point]) -> None:
        """Write the fields that points name over what they had there; those not there stay away.

        Their other fields and their payloads stay as they are; the payloads given count nothing.

        Raises:
            PermanentError: as `upsert`.
            ValueError: the collection has not one of the fields.
        """
        ...

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id, in the order asked for; those that are not there are left out."""
        ...

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope in an order of the engine's own, beginning behind `after`."""
        ...

    async def count(self, scope: Scope | None = None, where: Where = ()) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        ...

    async def facet(self, scope: Scope, field: str, limit: int, where: Where = ()) -> list[Facet]:
        """Count a scope's points exactly by what they have in a payload field.

        A point with several values counts once for each of them. The most frequent values come
        first, those of one number in the order of their characters.

        Args:
            scope: whose points.
            field: one of the collection's keywords.
            limit: how many values at most.
            where: what the points that are counted must match.

        Raises:
            ValueError: the collection has no such keyword.
        """
        ...

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        ...

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        ...

    async def erase(self) -> Sequence[Remainder]:
        """Remove what was deleted from the disk too, as far as the engine lets us.

        Embedded engines do so by themselves some time after a deletion. Whoever must know that it
        is done, or has overwritten a text instead of deleting it, awaits this behind the write.
        Its cost is that of copying the whole store, if anything was written since the last time.

        Returns where bytes of it may still be; nothing when they are gone.

        Raises:
            UnavailableError: it cannot be done now.
        """
        ...
