"""The flow file and the environment: whatever is wrong, the error names the one that has it.

The last two tests are of pydantic-settings: why its source for YAML does not merge the two. Where
one of them fails after an update, `flows/plan.py` may use that source.
"""

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from fourtier.flows.model import FlowError, parse_flow, read_flow
from fourtier.flows.plan import bus_config
from fourtier.runtime.errors import StartupError
from fourtier.runtime.settings import read_settings

FLOW = "name: shop\nbus:\n  url: embedded\n  port: {port}\nservices: {{}}\n"


def test_the_environment_goes_before_the_flow_file(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = parse_flow(FLOW.format(port=7_001), "shop.yaml")
    assert bus_config(flow, read_settings()).port == 7_001

    monkeypatch.setenv("FOURTIER_BUS_PORT", "7002")
    monkeypatch.setenv("FOURTIER_BUS_URL", "pulsar://broker:6650")
    config = bus_config(flow, read_settings())
    assert (config.port, config.url) == (7_002, "pulsar://broker:6650")


def test_a_wrong_value_in_the_file_is_named_with_file_and_key() -> None:
    with pytest.raises(FlowError, match=r"^shop.yaml: .*bus.port"):
        parse_flow(FLOW.format(port="many"), "shop.yaml")


def test_a_wrong_value_in_the_environment_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOURTIER_BUS_PORT", "many")
    with pytest.raises(StartupError, match=r"FOURTIER_BUS_PORT: ") as error:
        read_settings()
    assert "bus.port" not in str(error.value)


def test_a_flow_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="no such flow"):
        read_flow(str(tmp_path / "shop.yaml"))


class _Bus(BaseModel):
    port: int = 1


def merged(file: Path) -> BaseSettings:
    """File and environment in one model, as pydantic-settings does it."""

    class Merged(BaseSettings):
        model_config = SettingsConfigDict(env_prefix="MERGED_", env_nested_delimiter="__")

        bus: _Bus = _Bus()

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            del init_settings, dotenv_settings, file_secret_settings
            return env_settings, YamlConfigSettingsSource(settings_cls, yaml_file=file)

    return Merged()


def test_the_librarys_source_does_not_say_which_of_the_two_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text("bus:\n  port: many\n", "utf-8")
    with pytest.raises(ValidationError) as of_the_file:
        merged(file)
    file.write_text("bus:\n  port: 2\n", "utf-8")
    monkeypatch.setenv("MERGED_BUS__PORT", "many")
    with pytest.raises(ValidationError) as of_the_environment:
        merged(file)
    assert str(of_the_file.value) == str(of_the_environment.value)


def test_the_librarys_source_takes_a_missing_file_for_an_empty_one(tmp_path: Path) -> None:
    assert merged(tmp_path / "shop.yaml").model_dump() == {"bus": {"port": 1}}
