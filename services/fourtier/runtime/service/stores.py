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
    """The nodes and relations of a service; only this the graph engines write differently."""

    nodes: Sequence[Node]
    relations: Sequence[Relation] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """Vectors of a service.

    Attributes:
        indexed: the payload fields that searches filter on.
        dimensions: of vectors that are not made by the flow's embedding model.
        rebuild: the command that makes the vectors again from the graph; None where they hold what
            is nowhere else.
    """

    name: str
    indexed: Sequence[str] = ()
    dimensions: int | None = None
    rebuild: str | None = None


@dataclass(frozen=True, slots=True)
class Stores:
    """The graph and the collections of a service."""

    graph: GraphSchema | None = None
    collections: Sequence[Collection] = ()
