"""What a flow file says, checked on reading; an error names the file and the key."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fourtier.runtime.service.context import Quantisation
from fourtier.runtime.settings import EngineUrl
from fourtier.runtime.validation import in_words


class FlowError(Exception):
    """A flow file that cannot be used; the text says where and why."""


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True
    )


class TopicsSection(_Strict):
    """How long and how much Pulsar keeps; `fourtier init` sets it. 0 days are for ever."""

    message_ttl_days: int = Field(default=30, ge=0, description="of what nobody handles")
    dead_letter_ttl_days: int = Field(default=90, ge=0)
    backlog_megabytes: int = Field(
        default=1_024, ge=1, description="unhandled on one topic; then publishing is refused"
    )
    retention_hours: int = Field(
        default=24, ge=0, description="of what was handled; 0 keeps nothing of it"
    )
    retention_megabytes: int = Field(default=2_048, ge=1, description="on one topic at most")

    @model_validator(mode="after")
    def _retention_exceeds_backlog(self) -> Self:
        if self.retention_hours and self.retention_megabytes <= self.backlog_megabytes:
            raise ValueError(
                "retention-megabytes must be more than backlog-megabytes, or Pulsar takes neither"
            )
        return self


class BusSection(_Strict):
    """Where the bus is. `port` is for the embedded one, `admin-url` and `topics` for Pulsar."""

    url: EngineUrl = "embedded"
    admin_url: EngineUrl | None = None
    port: int = Field(default=6650, ge=0, le=65_535)
    topics: TopicsSection = TopicsSection()


class CollectionsSection(_Strict):
    """How Qdrant keeps its collections; `fourtier init` makes them so."""

    shards: int = Field(default=1, ge=1)
    replicas: int = Field(default=1, ge=1, description="copies of each shard")
    write_replicas: int = Field(default=1, ge=1, description="that have a write when it is done")
    quantisation: Quantisation = Field(
        default="none", description="scalar: a quarter of the memory, binary: a thirtieth"
    )
    vectors_on_disk: bool = Field(default=False, description="the vectors as they were embedded")
    prefix: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_-]*$",
        max_length=100,
        description="of their names, so that several flows can share a server",
    )

    @model_validator(mode="after")
    def _writes_fit(self) -> Self:
        if self.write_replicas > self.replicas:
            raise ValueError("write-replicas cannot be more than replicas")
        return self


class EnginesSection(_Strict):
    """Where the stores are, and how many dimensions the embedding model has."""

    graph: EngineUrl = "embedded"
    vectors: EngineUrl = "embedded"
    dimensions: int = Field(default=384, ge=1)
    collections: CollectionsSection = CollectionsSection()


class Flow(_Strict):
    """A deployed set of services with its parameters."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    tenant: str = Field(default="fourtier", pattern=r"^[A-Za-z0-9_=:.-]+$")
    namespace: str = Field(default="default", pattern=r"^[A-Za-z0-9_=:.-]+$")
    bus: BusSection = BusSection()
    engines: EnginesSection = EnginesSection()
    health_host: str = "127.0.0.1"
    health_port: int = Field(default=6680, ge=0, le=65_535)
    services: Mapping[str, Mapping[str, Any] | None]


def shipped_flows() -> list[str]:
    """Names of the flows that come with Fourtier."""
    files = resources.files("fourtier.flows").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def read_flow(name_or_path: str) -> Flow:
    """Read a shipped flow by its name or a file by its path.

    Raises:
        FlowError: there is no such flow, or something in it is wrong.
    """
    if name_or_path in shipped_flows():
        place = f"the shipped flow {name_or_path}"
        text = resources.files("fourtier.flows").joinpath(f"{name_or_path}.yaml").read_text("utf-8")
    else:
        place = name_or_path
        try:
            text = Path(name_or_path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FlowError(
                f"{name_or_path}: no such flow: {error}; shipped with Fourtier are: "
                f"{', '.join(shipped_flows())}"
            ) from error
    return parse_flow(text, place)


def parse_flow(text: str, place: str) -> Flow:
    """Read a flow from its text; `place` is what errors call it.

    Raises:
        FlowError: the text is no YAML, or something in it is wrong.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FlowError(f"{place}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise FlowError(f"{place}: a flow is a mapping with name, bus, engines and services")
    try:
        return Flow.model_validate(content)
    except ValidationError as error:
        raise FlowError(f"{place}: {in_words(error, 'the flow')}") from error
