"""Where the engines of a service are, and how to get in; nothing of the latter is ever printed."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from fourtier.engines.stores import Collection
from fourtier.runtime.service.context import CollectionLayout, Engines, Surroundings
from fourtier.runtime.settings import Settings, secret

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class EnginePlace:
    """Where a service's engines are.

    Attributes:
        data: the service's own directory, for the embedded engines.
        graph_trust: file with the authority that signed the server's certificate; so is
            `vectors_trust`. None where the system knows it.
        dimensions: of the vectors that the flow's embedding model makes.
    """

    data: Path
    graph_url: str = EMBEDDED
    graph_user: str | None = None
    graph_password: str | None = field(default=None, repr=False)
    graph_trust: Path | None = None
    vectors_url: str = EMBEDDED
    vectors_key: str | None = field(default=None, repr=False)
    vectors_trust: Path | None = None
    dimensions: int = 384
    collections: CollectionLayout = CollectionLayout()

    def name_of(self, collection: Collection) -> str:
        """What a collection is called on a server."""
        return f"{self.collections.prefix}{collection.name}"

    def layout_of(self, collection: Collection) -> CollectionLayout:
        """How a collection is kept: vectors that mean nothing stay as they are."""
        if collection.dimensions is None:
            return self.collections
        return replace(self.collections, quantisation="none", vectors_on_disk=False)


def engine_place(surroundings: Surroundings) -> EnginePlace:
    """Where the engines of a service are, secrets included."""
    return place_of(surroundings.engines, surroundings.settings, surroundings.data)


def place_of(engines: Engines, settings: Settings, data: Path) -> EnginePlace:
    """Where a flow's engines are; `data` is for the embedded ones."""
    return EnginePlace(
        data=data,
        graph_url=engines.graph,
        graph_user=settings.graph_user,
        graph_password=secret(settings.graph_password),
        graph_trust=settings.graph_trust_certificates,
        vectors_url=engines.vectors,
        vectors_key=secret(settings.vectors_key),
        vectors_trust=settings.vectors_trust_certificates,
        dimensions=engines.dimensions,
        collections=engines.collections,
    )
