"""Where the stores of a flow are: the section `engines` of a flow file."""

from typing import Literal, Self

from pydantic import Field, model_validator

from fourtier.runtime.config import Config
from fourtier.runtime.settings import EngineUrl

EMBEDDED = "embedded"
#: Seconds for one call of a store, where the flow does not say another limit.
QUERY_SECONDS = 30.0
Quantisation = Literal["none", "scalar", "binary"]


class CollectionsConfig(Config):
    """How a vector server stores its collections; the embedded engine has no choice."""

    shards: int = Field(
        default=1, ge=1, description="parts of a collection, on different nodes of a cluster"
    )
    replicas: int = Field(default=1, ge=1, description="copies of each shard")
    write_replicas: int = Field(
        default=1, ge=1, description="copies that have a write before it is confirmed"
    )
    quantisation: Quantisation = Field(
        default="none", description="scalar: a quarter of the memory, binary: a thirtieth"
    )
    vectors_on_disk: bool = Field(
        default=False, description="the embedding model's own vectors stay on disk until needed"
    )
    prefix: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_-]*$",
        max_length=100,
        description="of the collections' names, so that several flows can share a server",
    )

    @model_validator(mode="after")
    def _writes_fit(self) -> Self:
        if self.write_replicas > self.replicas:
            raise ValueError("write-replicas cannot be more than replicas")
        return self


class EnginesConfig(Config):
    """URLs of the stores, and how many dimensions the embedding model's vectors have."""

    graph: EngineUrl = EMBEDDED
    vectors: EngineUrl = EMBEDDED
    dimensions: int = Field(default=384, ge=1)
    collections: CollectionsConfig = CollectionsConfig()
    query_seconds: float = Field(
        default=QUERY_SECONDS,
        gt=0,
        description="time limit for one query of a store; the message is tried again later",
    )
    disk_reserve_mb: int = Field(
        default=100,
        ge=0,
        description="embedded engines write nothing while less is free; a start needs double",
    )
