"""What a service is given when it is opened."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from fourtier.runtime.config import Config
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.opening import StoreOpener
from fourtier.runtime.service.stores.schemas import Collection, GraphSchema
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.runtime.settings import Settings


class Parameters(Config):
    """Base of a service's parameters, written in kebab-case in the flow file."""


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What a service gets when it is opened.

    Attributes:
        caller: for publishing and for asking other services.
        data: the service's own directory below the flow's data directory; not yet created.
        stores: opens its stores; `open_graph` and `open_vectors` are the way to them.
        settings: secrets and the rest of the environment.
        privacy: takes personal data out of what the service is about to write.
    """

    caller: Caller
    data: Path
    stores: StoreOpener
    settings: Settings
    privacy: Privacy = field(default_factory=Privacy)

    def open_graph(self, schema: GraphSchema) -> AbstractAsyncContextManager[GraphStore]:
        """Open the graph that the service declares, where the flow's graphs are.

        Raises:
            StartupError: when the context is entered, and the engine cannot be opened.
        """
        return self.stores.open_graph(self.data, schema)

    def open_vectors(self, collection: Collection) -> AbstractAsyncContextManager[VectorStore]:
        """Open a collection that the service declares, where the flow's vectors are.

        Raises:
            StartupError: when the context is entered, and the engine cannot be opened.
        """
        return self.stores.open_vectors(self.data, collection)
