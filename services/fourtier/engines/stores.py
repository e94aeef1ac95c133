"""What a service keeps, told on its class, so that it can be made before the service is started.

class FactsService:
    stores: ClassVar[Stores] = Stores(graph=SCHEMA, collections=(COLLECTION,))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from fourtier.engines.graph.protocol import GraphSchema


@dataclass(frozen=True, slots=True)
class Collection:
    """Vectors of a service.

    Attributes:
        indexed: the payload fields that searches filter on.
        dimensions: of vectors that are not made by the flow's embedding model.
    """

    name: str
    indexed: Sequence[str] = ()
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class Stores:
    """The graph and the collections of a service."""

    graph: GraphSchema | None = None
    collections: Sequence[Collection] = ()


@runtime_checkable
class KeepsThings(Protocol):
    """The class of a service that has stores."""

    stores: ClassVar[Stores]


def stores_of(service: object) -> Stores:
    """The stores of a service's class; of most there are none."""
    return service.stores if isinstance(service, KeepsThings) else Stores()
