"""What a service is to the runtime, and what the runtime gives it to work with."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.routes import Route
from fourtier.runtime.settings import Settings


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Parameters(BaseModel):
    """Base of a service's parameters, written in kebab-case in the flow file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True
    )


Quantisation = Literal["none", "scalar", "binary"]


@dataclass(frozen=True, slots=True)
class CollectionLayout:
    """How a vector server keeps its collections; the embedded engine has no choice.

    Attributes:
        shards: parts of a collection, which stand on different nodes of a cluster.
        replicas: copies of each shard.
        write_replicas: how many of the copies have a write before it is confirmed.
        quantisation: what is kept in memory instead of the embedding model's own vectors.
        vectors_on_disk: whether those vectors stay on disk, read when a search needs them.
        prefix: of the collections' names, where several flows share a server.
    """

    shards: int = 1
    replicas: int = 1
    write_replicas: int = 1
    quantisation: Quantisation = "none"
    vectors_on_disk: bool = False
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Engines:
    """The flow's stores, after the environment had its say.

    Attributes:
        dimensions: of the embedding model's vectors.
    """

    graph: str = "embedded"
    vectors: str = "embedded"
    dimensions: int = 384
    collections: CollectionLayout = CollectionLayout()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a service gets when it is opened.

    Attributes:
        caller: for publishing and for asking other services.
        data: the service's own directory below the flow's data directory; not yet created.
        engines: URLs of the stores.
        settings: secrets and the rest of the environment.
    """

    caller: Caller
    data: Path
    engines: Engines
    settings: Settings


class RunningService(Protocol):
    """An open service: its routes, until it is closed."""

    def routes(self) -> Iterator[Route]:
        """What it handles."""
        ...


class ServiceClass(Protocol):
    """What the entry points of group `fourtier.services` name."""

    parameters: ClassVar[type[Parameters]]

    @classmethod
    def open(
        cls, surroundings: Surroundings, parameters: Any
    ) -> AbstractAsyncContextManager[RunningService]:
        """Open what the service needs; closing gives it back in order."""
        ...
