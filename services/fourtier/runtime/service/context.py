"""What a service is given when it is opened."""

from dataclasses import dataclass, field
from pathlib import Path

from fourtier.runtime.config import Config
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings


class Parameters(Config):
    """Base of a service's parameters, written in kebab-case in the flow file."""


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What a service gets when it is opened.

    Attributes:
        caller: for publishing and for asking other services.
        data: the service's own directory below the flow's data directory; not yet created.
        engines: where the flow's stores are.
        settings: secrets and the rest of the environment.
        privacy: takes personal data out of what the service is about to write.
    """

    caller: Caller
    data: Path
    engines: EnginesConfig
    settings: Settings
    privacy: Privacy = field(default_factory=Privacy)
