"""The stores of a service, declared on its class, so that they can be made before it starts.

class FactsService(Service):
    stores = Stores(graph=SCHEMA, collections=(COLLECTION,))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A kind of node, `id` its key; the types are STRING, INT64, DOUBLE and BOOL."""

    label: str
    properties: Mapping[str, str]
    indexed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of relation between two kinds of nodes."""

    label: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """The nodes and relations of a service; only this the graph engines write differently.

    Attributes:
        index: the collection that is made from the graph. Where it is there and the graph is not,
            the graph was lost.
    """

    nodes: Sequence[Node]
    relations: Sequence[Relation] = ()
    index: str = ""


@dataclass(frozen=True, slots=True)
class SparseField:
    """Texts that are searched by their words (BM25).

    Attributes:
        average_length: tokens of a usual text, stop words left out; a longer one counts for less.
        language: whose stop words and endings are left out.
    """

    name: str
    average_length: float = 20.0  # memories are sentences, not pages
    language: str = "english"


@dataclass(frozen=True, slots=True)
class Fields:
    """What the points of a collection have to be searched by and filtered on.

    Attributes:
        keywords: payload fields with texts that searches filter on.
        dates: payload fields with times in ISO 8601 that searches filter on.
        numbers: payload fields with whole numbers that searches filter on.
        dense: fields with a vector of the embedding model.
        sparse: fields with a text.
    """

    keywords: Sequence[str] = ()
    dates: Sequence[str] = ()
    numbers: Sequence[str] = ()
    dense: Sequence[str] = ("dense",)
    sparse: Sequence[SparseField] = (SparseField("sparse"),)


@dataclass(frozen=True, slots=True)
class Collection:
    """Vectors of a service.

    Attributes:
        dimensions: of vectors that are not made by the flow's embedding model.
        rebuild: the command that makes the vectors again from the graph; None where they hold what
            is nowhere else.
    """

    name: str
    fields: Fields = Fields()
    dimensions: int | None = None
    rebuild: str | None = None


@dataclass(frozen=True, slots=True)
class Stores:
    """The graph and the collections of a service."""

    graph: GraphSchema | None = None
    collections: Sequence[Collection] = ()
