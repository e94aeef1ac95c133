"""What opens the stores of a flow; `fourtier.engines` has it, and the flow hands it to the host."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.schemas import Collection, GraphSchema
from fourtier.runtime.service.stores.vectors import VectorStore


class StoreOpener(Protocol):
    """Opens the stores of services, each in the engine that the flow names.

    Both raise a `StartupError` when they are entered and the engine's URL is of no known kind, its
    package is missing or nothing answers there.
    """

    @property
    def engines(self) -> EnginesConfig:
        """Where the stores are."""
        ...

    def open_graph(
        self, data: Path, schema: GraphSchema
    ) -> AbstractAsyncContextManager[GraphStore]:
        """Open the graph of the service whose directory is `data`."""
        ...

    def open_vectors(
        self, data: Path, collection: Collection
    ) -> AbstractAsyncContextManager[VectorStore]:
        """Open one of the collections of the service whose directory is `data`."""
        ...
