"""The environment, read in this one file. What is set here overrides the flow file."""

from pathlib import Path

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from fourtier.runtime.errors import StartupError


class Settings(BaseSettings):
    """Engine URLs, secrets and where to report to; all by `FOURTIER_...` unless named otherwise."""

    model_config = SettingsConfigDict(env_prefix="FOURTIER_", extra="ignore", populate_by_name=True)

    data: Path | None = Field(default=None, description="directory of the embedded engines")
    bus_url: str | None = None
    bus_port: int | None = Field(default=None, ge=0, le=65_535)
    bus_token: SecretStr | None = None
    bus_trust_certificates: Path | None = None
    vectors_url: str | None = None
    vectors_key: SecretStr | None = None
    graph_url: str | None = None
    graph_user: str | None = None
    graph_password: SecretStr | None = None
    health_port: int | None = Field(default=None, ge=0, le=65_535)
    otlp_endpoint: str | None = Field(default=None, description="OTLP over HTTP; off when unset")
    log_level: str = "INFO"
    log_format: str = Field(default="text", pattern="^(text|json)$")

    model_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    model_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    model_name: str | None = Field(default=None, validation_alias="OPENAI_MODEL")


def read_settings() -> Settings:
    """Read the environment.

    Raises:
        StartupError: a variable has a value that it cannot have; names it.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(
            f"{_variable(str(item['loc'][0]))}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)
        )
        raise StartupError(f"the environment cannot be used: {wrong}") from error


def _variable(name: str) -> str:
    return name if name.startswith("OPENAI_") else f"FOURTIER_{name.upper()}"


def secret(value: SecretStr | None) -> str | None:
    """The text of a secret, for the one place that hands it to a driver."""
    return value.get_secret_value() if value is not None else None
