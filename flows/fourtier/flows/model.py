"""What a flow file says, checked on reading; an error names the file and the key."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class FlowError(Exception):
    """A flow file that cannot be used; the text says where and why."""


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True
    )


class BusSection(_Strict):
    """Where the bus is. `port` is for the embedded one."""

    url: str = "embedded"
    port: int = Field(default=6650, ge=0, le=65_535)


class EnginesSection(_Strict):
    """Where the stores are, and how many dimensions the embedding model has."""

    graph: str = "embedded"
    vectors: str = "embedded"
    dimensions: int = Field(default=384, ge=1)


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
        raise FlowError(f"{place}: {in_words(error)}") from error


def in_words(error: ValidationError, prefix: str = "") -> str:
    """Each wrong key with what is wrong about it."""
    return "; ".join(
        f"{'.'.join([*([prefix] if prefix else []), *map(str, item['loc'])])}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
