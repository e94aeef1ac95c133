"""The environment, read in this one file. What is set here overrides the flow file.

Each setting may also stand in a file of its name in the directory that FOURTIER_SECRETS names, as
Docker and Kubernetes mount secrets: `fourtier_graph_password`. The environment goes before a file.
"""

import warnings
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from fourtier.runtime.errors import StartupError


def without_credentials(url: str) -> str:
    """The address of an engine, which gets into logs and error messages.

    Raises:
        ValueError: user or password are in it.
    """
    try:
        has_user = "@" in urlsplit(url).netloc
    except ValueError:  # such as half an IPv6 address: whoever connects says what is wrong with it
        has_user = "@" in url
    if has_user:
        raise ValueError(
            "an address cannot hold a user or a password: it gets into logs. "
            "They have settings of their own, such as FOURTIER_GRAPH_PASSWORD"
        )
    return url


#: The address of an engine.
EngineUrl = Annotated[str, AfterValidator(without_credentials)]


class _Mounted(BaseSettings):
    """Where secrets are mounted; a setting of its own, since the others are found by it."""

    model_config = SettingsConfigDict(env_prefix="FOURTIER_", env_ignore_empty=True, extra="ignore")

    secrets: Path | None = None


class Settings(BaseSettings):
    """Engine URLs, secrets and where to report to; all by `FOURTIER_...` unless named otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="FOURTIER_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    data: Path | None = Field(default=None, description="directory of the embedded engines")
    bus_url: EngineUrl | None = None
    bus_admin_url: EngineUrl | None = Field(default=None, description="Pulsar's HTTP address")
    bus_port: int | None = Field(default=None, ge=0, le=65_535)
    bus_token: SecretStr | None = None
    bus_trust_certificates: Path | None = None
    vectors_url: EngineUrl | None = None
    vectors_key: SecretStr | None = None
    vectors_trust_certificates: Path | None = None
    graph_url: EngineUrl | None = None
    graph_user: str | None = None
    graph_password: SecretStr | None = None
    graph_trust_certificates: Path | None = None
    health_port: int | None = Field(default=None, ge=0, le=65_535)
    otlp_endpoint: str | None = Field(default=None, description="OTLP over HTTP; off when unset")
    log_level: str = "INFO"
    log_format: str = Field(default="text", pattern="^(text|json)$")

    model_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    model_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    model_name: str | None = Field(default=None, validation_alias="OPENAI_MODEL")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment, then the files of the directory that it names."""
        del dotenv_settings, file_secret_settings  # one is not read, the other has no directory
        files = SecretsSettingsSource(settings_cls, secrets_dir=_Mounted().secrets)
        return init_settings, env_settings, files


def read_settings() -> Settings:
    """Read the environment and the mounted secrets.

    Raises:
        StartupError: a variable or a file has a value that it cannot have; names it.
    """
    mounted = _Mounted().secrets
    if mounted is not None and not mounted.is_dir():
        raise StartupError(f"FOURTIER_SECRETS names {mounted}, which is not a directory")
    try:
        with warnings.catch_warnings():
            # Docker makes a directory where the file to be mounted is missing.
            warnings.simplefilter("error", UserWarning)
            return Settings()
    except ValidationError as error:
        wrong = "; ".join(
            f"{_variable(str(item['loc'][0]))}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)
        )
        raise StartupError(f"the environment cannot be used: {wrong}") from error
    except SettingsError as error:
        raise StartupError(f"in {mounted}: {error}: {error.__cause__}") from error


def _variable(name: str) -> str:
    return name if name.startswith("OPENAI_") else f"FOURTIER_{name.upper()}"


def secret(value: SecretStr | None) -> str | None:
    """The text of a secret, to be handed to a driver."""
    return value.get_secret_value() if value is not None else None
