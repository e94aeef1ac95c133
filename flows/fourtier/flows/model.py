"""What a flow file says, checked on reading; an error names the file and the key."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from fourtier.runtime.bus.config import BusSection
from fourtier.runtime.config import Config
from fourtier.runtime.errors import StartupError
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.validation import in_words


class FlowError(StartupError):
    """A flow file that cannot be used; the text says where and why."""

    type = "flow"


class Flow(Config):
    """A deployed set of services with its parameters."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    tenant: str = Field(default="fourtier", pattern=r"^[A-Za-z0-9_=:.-]+$")
    namespace: str = Field(default="default", pattern=r"^[A-Za-z0-9_=:.-]+$")
    bus: BusSection = BusSection()
    engines: EnginesConfig = EnginesConfig()
    limits: Limits = Limits()
    privacy: PrivacyPolicy = PrivacyPolicy()
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
        source = f"the shipped flow {name_or_path}"
        text = resources.files("fourtier.flows").joinpath(f"{name_or_path}.yaml").read_text("utf-8")
        return parse_flow(text, source)
    try:
        text = Path(name_or_path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FlowError(f"{name_or_path}: not UTF-8: {error}") from error
    except (FileNotFoundError, ValueError) as error:  # no file can have a name with a null byte
        raise FlowError(
            f"{name_or_path}: no such flow: {error}; shipped with Fourtier are: "
            f"{', '.join(shipped_flows())}"
        ) from error
    except OSError as error:
        raise FlowError(f"{name_or_path}: cannot be read: {error.strerror}") from error
    return parse_flow(text, name_or_path)


def parse_flow(text: str, source: str) -> Flow:
    """Read a flow from its text; `source` is what errors call it.

    Raises:
        FlowError: the text is not YAML, or something in it is wrong.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FlowError(f"{source}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise FlowError(f"{source}: a flow is a mapping with name, bus, engines and services")
    try:
        return Flow.model_validate(content)
    except ValidationError as error:
        raise FlowError(f"{source}: {in_words(error, 'the flow')}") from error
