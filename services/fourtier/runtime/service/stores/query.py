"""What a search asks of a vector store: by what, under which conditions, and how it is ranked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.schema.message import Vector

#: Constant of reciprocal rank fusion, Qdrant's own default. With the 60 of the literature a point
#: that both searches find far down beats the first of either: of LoCoMo's evidence, facts find
#: 55.1 / 62.4 / 68.3 % among the first 5 / 10 / 20 with 60, and 57.7 / 67.8 / 76.8 % with 2.
RRF_K = 2
#: Points that each leg finds at least: what is far down in each of several may be first in all.
MIN_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class DenseLeg:
    """A search by meaning, in one of the collection's dense fields.

    Attributes:
        weight: of its ranks in the fusion.
        name: in what explains a hit; by default that of the field.
    """

    vector: Vector
    field: str = "dense"
    weight: float = 1.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class SparseLeg:
    """A search by words (BM25), in one of the collection's sparse fields; otherwise as `DenseLeg`.

    A word is as rare as it is in the scope's own texts.
    """

    text: str
    field: str = "sparse"
    weight: float = 1.0
    name: str = ""


Leg = DenseLeg | SparseLeg


@dataclass(frozen=True, slots=True)
class Equals:
    """A payload field has this value, or has it among several."""

    field: str
    value: str | int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A payload field has at least one of these values; with none nothing is found."""

    field: str
    values: Sequence[str] | Sequence[int]


@dataclass(frozen=True, slots=True)
class Range:
    """A number or a time in a payload field is at least one and below the other."""

    field: str
    at_least: datetime | float | None = None
    below: datetime | float | None = None


Condition = Equals | AnyOf | Range
#: All of them must hold.
Where = Sequence[Condition]


@dataclass(frozen=True, slots=True)
class Rrf:
    """Weighted reciprocal rank fusion, by the engine (Cormack, Clarke and Buettcher, 2009)."""

    k: int = RRF_K


@dataclass(frozen=True, slots=True)
class MinMax:
    """The weighted sum of the scores, those of each leg brought to the range from 0 to 1.

    A leg gives nothing to a point that it has not found.
    """


@dataclass(frozen=True, slots=True)
class Group:
    """Of the points with the same value in a payload field only the best are found.

    A point that has several values in it is in no group.

    Attributes:
        size: how many of them.
    """

    field: str
    size: int = 1
