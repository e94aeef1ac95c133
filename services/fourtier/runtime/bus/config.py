"""Where the bus of a flow is and how long it stores messages: the section `bus` of a flow file."""

from typing import Self

from pydantic import Field, model_validator

from fourtier.runtime.config import Config
from fourtier.runtime.settings import EngineUrl


class RetentionPolicy(Config):
    """How long and how much Pulsar stores; `fourtier init` sets it. 0 days are for ever.

    The embedded bus keeps to what is said of dead letters, and to nothing else of it.
    """

    message_ttl_days: int = Field(
        default=30, ge=0, description="a message that no service handles is dropped after so long"
    )
    dead_letter_ttl_days: int = Field(default=90, ge=0)
    dead_letter_megabytes: int = Field(
        default=32,
        ge=1,
        description="of each service on the embedded bus; then malformed ones go, and the oldest",
    )
    backlog_megabytes: int = Field(
        default=1_024, ge=1, description="unhandled on one topic; then publishing is rejected"
    )
    retention_hours: int = Field(
        default=24,
        ge=0,
        description="of what every subscription has acknowledged; 0 stores nothing",
    )
    retention_megabytes: int = Field(default=2_048, ge=1, description="the maximum on one topic")

    @model_validator(mode="after")
    def _retention_exceeds_backlog(self) -> Self:
        if self.retention_hours and self.retention_megabytes <= self.backlog_megabytes:
            raise ValueError(
                "retention-megabytes must be more than backlog-megabytes, or Pulsar takes neither"
            )
        return self


class BusSection(Config):
    """Where the bus is. `port` is for the embedded one, `admin-url` and `topics` for Pulsar.

    With `local-calls` a call whose service runs in the caller's process, and that nobody stores,
    does without the broker.
    """

    url: EngineUrl = "embedded"
    admin_url: EngineUrl | None = None
    port: int = Field(default=6650, ge=0, le=65_535)
    local_calls: bool = True
    topics: RetentionPolicy = RetentionPolicy()
