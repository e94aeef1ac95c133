"""Where the engines of a service are and how to get in; the credentials are never printed."""

from dataclasses import dataclass, field
from pathlib import Path

from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.engines import (
    EMBEDDED,
    QUERY_SECONDS,
    CollectionsConfig,
    EnginesConfig,
)
from fourtier.runtime.service.stores.schemas import Collection
from fourtier.runtime.settings import Settings, secret


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Addresses from the flow, credentials from the environment.

    Attributes:
        data: the service's own directory, for the embedded engines.
        graph_trust: file with the authority that signed the server's certificate; so is
            `vectors_trust`. None where the system knows it.
        dimensions: of the vectors that the flow's embedding model makes.
        query_seconds: how long a store may take for one call.
        disk_reserve_mb: embedded engines write nothing while less is free.
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
    collections: CollectionsConfig = CollectionsConfig()
    query_seconds: float = QUERY_SECONDS
    disk_reserve_mb: int = 0

    @property
    def disk(self) -> DiskReserve:
        """The room that embedded engines leave on the disk."""
        return DiskReserve(self.data, self.disk_reserve_mb)

    def name_of(self, collection: Collection) -> str:
        """What a collection is called on a server."""
        return f"{self.collections.prefix}{collection.name}"

    def layout_of(self, collection: Collection) -> CollectionsConfig:
        """How a server stores a collection: vectors that no model made are not quantised."""
        if collection.dimensions is None:
            return self.collections
        return self.collections.model_copy(
            update={"quantisation": "none", "vectors_on_disk": False}
        )


def resolve_engines(engines: EnginesConfig, settings: Settings, data: Path) -> EngineConfig:
    """The engines of a flow with their credentials; `data` is for the embedded ones."""
    return EngineConfig(
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
        query_seconds=engines.query_seconds,
        disk_reserve_mb=engines.disk_reserve_mb,
    )
