"""What a service asks of a vector store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fourtier.schema.message import Scope, Vector

#: Values that can be filtered on are strings; flags are written as "yes" and "no".
Payload = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to be found.

    Attributes:
        id: any text; the same id in the same scope again replaces the point.
        text: what the sparse (BM25) vector is made from.
        payload: comes back with a hit; every value can be filtered on, fast if its field is
            indexed. The names `scope` and `id` are taken.
    """

    id: str
    vector: Vector
    text: str
    payload: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """A point that was found.

    Attributes:
        score: the engine's; comparable within one answer only. 0 where nothing was scored.
        similarity: cosine of query and point, -1 to 1; None where no vector was asked for.
    """

    id: str
    score: float
    payload: Payload
    similarity: float | None = None


class VectorStore(Protocol):
    """Points with a dense and a sparse vector, separated by scope.

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

    async def search(
        self,
        scope: Scope,
        vector: Vector,
        text: str,
        limit: int,
        where: Payload | None = None,
    ) -> list[Hit]:
        """Find by meaning and by words, fused by reciprocal rank; best first.

        Raises:
            PermanentError: the vector has the wrong number of dimensions or is not finite.
        """
        ...

    async def similar(
        self, scope: Scope, vector: Vector, limit: int, where: Payload | None = None
    ) -> list[Hit]:
        """Find by meaning alone; best first, `similarity` set.

        Raises:
            PermanentError: the vector has the wrong number of dimensions or is not finite.
        """
        ...

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Hit]:
        """Read points by id, in the order asked for; those that are not there are left out."""
        ...

    async def scroll(self, scope: Scope, limit: int, after: str | None = None) -> list[Hit]:
        """Page through a scope in an order of the engine's own, beginning behind `after`."""
        ...

    async def count(self, scope: Scope | None = None, where: Payload | None = None) -> int:
        """Count a scope's points exactly; those of all scopes with None."""
        ...

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete points by id; returns how many the scope had."""
        ...

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all points of a scope; returns how many there were."""
        ...
