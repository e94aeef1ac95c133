"""What both engines store for a point, so that a point can be read and moved between them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from qdrant_edge import SparseVector

from fourtier.engines.vectors.sparse import encode_document
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.service.stores.query import Equals, Where
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Found, Hit, Payload, Point
from fourtier.schema.message import Scope, Vector

SCOPE, ID = "scope", "id"

_NAMESPACE = UUID("5c0f1d3e-8a52-4f0b-9a53-0e1c5d6b7f24")


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point as both engines store it.

    Attributes:
        id: the engine's id, a UUID.
        dense: by field, as many numbers as the store has dimensions.
        sparse: by field, BM25 weights; empty for a text without a content word.
    """

    id: str
    dense: dict[str, list[float]]
    sparse: dict[str, SparseVector]
    payload: dict[str, str | int | list[str]]


def stored_point(scope: Scope, point: Point, dimensions: int, fields: Fields) -> StoredPoint:
    """Make what an engine stores.

    Raises:
        PermanentError: a vector does not fit the store.
        ValueError: the payload has a field of a name that is taken, or the collection has not one
            of the point's fields.
    """
    sparse = {field.name: field for field in fields.sparse}
    require_fields(point.vectors, fields.dense)
    require_fields(point.texts, sparse)
    return StoredPoint(
        stored_id(scope, point.id),
        {field: checked(vector, dimensions) for field, vector in point.vectors.items()},
        {field: encode_document(text, sparse[field]) for field, text in point.texts.items()},
        _stored_payload(scope, point),
    )


def require_fields(named: Iterable[str], known: Iterable[str]) -> None:
    """See that a collection has the fields that are named.

    Raises:
        ValueError: it has not.
    """
    if unknown := sorted(set(named) - set(known)):
        raise ValueError(f"the collection has no field {' and no field '.join(unknown)}")


def stored_id(scope: Scope, point_id: str) -> str:
    """The engine's id of a point: made from the scope too, so that no scope can reach another's."""
    return str(uuid5(_NAMESPACE, f"{scope.key}\n{point_id}"))


def _stored_payload(scope: Scope, point: Point) -> dict[str, str | int | list[str]]:
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


def conditions(scope: Scope | None, where: Where = ()) -> Where:
    """What a filter must match: a scope's points, or those of all scopes with None."""
    own = [] if scope is None else [Equals(SCOPE, scope.key)]
    return [*where, *own]


def hit(
    stored: Mapping[str, Any] | None, score: float = 0.0, similarity: float | None = None
) -> Hit:
    """A hit made from a stored payload, with the id and the fields that its owner wrote."""
    payload: Mapping[str, Any] = stored or {}
    own: Payload = {key: value for key, value in payload.items() if key not in (SCOPE, ID)}
    return Hit(payload[ID], score, own, similarity)


def in_order(hits: Iterable[Hit], ids: Iterable[str]) -> list[Hit]:
    """Hits in the order in which their ids were asked for."""
    index = {each: number for number, each in enumerate(dict.fromkeys(ids))}
    return sorted(hits, key=lambda found: index[found.id])


def ranks(found: Sequence[Hit]) -> dict[str, Found]:
    """By id, how each of a leg's hits was found; they come best first."""
    return {each.id: Found(number, each.score) for number, each in enumerate(found, start=1)}
