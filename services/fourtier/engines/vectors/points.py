"""What both engines store for a point, so that a point can be read and moved between them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from qdrant_edge import SparseVector

from fourtier.engines.vectors.protocol import Hit, Payload, Point
from fourtier.engines.vectors.sparse import encode_document
from fourtier.runtime.errors import PermanentError
from fourtier.schema.message import Scope, Vector

DENSE, SPARSE, SCOPE, ID = "dense", "sparse", "scope", "id"

#: Payload fields and the texts that all of them must have. A field may be named twice.
Conditions = Sequence[tuple[str, str]]

_NAMESPACE = UUID("5c0f1d3e-8a52-4f0b-9a53-0e1c5d6b7f24")


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point as both engines store it.

    Attributes:
        id: the engine's id, a UUID.
        dense: as many numbers as the store has dimensions.
        sparse: BM25 weights; empty for a text without a content word.
    """

    id: str
    dense: list[float]
    sparse: SparseVector
    payload: dict[str, str]


def stored_point(scope: Scope, point: Point, dimensions: int) -> StoredPoint:
    """Make what an engine stores.

    Raises:
        PermanentError: the vector does not fit the store.
        ValueError: the payload has a field of a name that is taken.
    """
    return StoredPoint(
        stored_id(scope, point.id),
        checked(point.vector, dimensions),
        encode_document(point.text),
        _stored_payload(scope, point),
    )


def stored_id(scope: Scope, point_id: str) -> str:
    """The engine's id of a point: made from the scope too, so that no scope can reach another's."""
    return str(uuid5(_NAMESPACE, f"{scope.key}\n{point_id}"))


def _stored_payload(scope: Scope, point: Point) -> dict[str, str]:
    if taken := {SCOPE, ID} & point.payload.keys():
        raise ValueError(f"a payload cannot have a field called {' or '.join(sorted(taken))}")
    return {**point.payload, SCOPE: scope.key, ID: point.id}


def checked(vector: Vector, dimensions: int) -> list[float]:
    """The numbers of a vector that fits the store.

    Raises:
        PermanentError: it has another number of dimensions, or is not made of finite numbers. An
            engine would take the latter and never find the point again.
    """
    numbers = vector.floats()
    if len(numbers) != dimensions:
        raise PermanentError(
            f"the vector has {len(numbers)} dimensions, but those stored here have {dimensions}: "
            f"it was made by another embedding model"
        )
    if not all(map(math.isfinite, numbers)):
        raise PermanentError("the vector has a component that is not a finite number")
    return numbers


def conditions(scope: Scope | None, where: Payload | None = None) -> Conditions:
    """What a filter must match: a scope's points, or those of all scopes with None."""
    own = [] if scope is None else [(SCOPE, scope.key)]
    return [*(where or {}).items(), *own]


def hit(
    stored: Mapping[str, Any] | None, score: float = 0.0, similarity: float | None = None
) -> Hit:
    """A hit made from a stored payload, with the id and the fields that its owner wrote."""
    payload = stored or {}
    own = {key: value for key, value in payload.items() if key not in (SCOPE, ID)}
    return Hit(payload[ID], score, own, similarity)


def in_order(hits: Iterable[Hit], ids: Iterable[str]) -> list[Hit]:
    """Hits in the order in which their ids were asked for."""
    index = {each: number for number, each in enumerate(dict.fromkeys(ids))}
    return sorted(hits, key=lambda found: index[found.id])
