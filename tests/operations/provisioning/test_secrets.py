"""Secrets from the environment and from mounted files, which nothing prints."""

from pathlib import Path

import pytest

from fourtier.engines.config import resolve_engines
from fourtier.runtime.bus.pulsar.admin import AdminConfig
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings, read_settings, secret
from fourtier.runtime.telemetry.redaction import one_line

SECRET = "s3cret-of-ours"  # noqa: S105 - nobody's


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as Kubernetes mounts it: the files are links into a hidden one."""
    data = tmp_path / "..2026_01_01"
    data.mkdir()
    (tmp_path / "..data").symlink_to(data)
    monkeypatch.setenv("FOURTIER_SECRETS", str(tmp_path))
    return tmp_path


def mount(directory: Path, name: str, content: bytes) -> None:
    (directory / "..2026_01_01" / name).write_bytes(content)
    (directory / name).symlink_to(directory / "..data" / name)


@pytest.mark.parametrize("name", ["fourtier_graph_password", "FOURTIER_GRAPH_PASSWORD"])
def test_a_mounted_file_is_read_without_its_line_end(mounted: Path, name: str) -> None:
    mount(mounted, name, f"{SECRET}\n".encode())
    assert secret(read_settings().graph_password) == SECRET


def test_the_key_of_the_model_may_be_mounted_too(mounted: Path) -> None:
    mount(mounted, "OPENAI_API_KEY", SECRET.encode())
    assert secret(read_settings().model_key) == SECRET


def test_the_environment_goes_before_a_file_unless_it_is_empty(
    mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount(mounted, "fourtier_bus_token", SECRET.encode())
    monkeypatch.setenv("FOURTIER_BUS_TOKEN", "another")
    assert secret(read_settings().bus_token) == "another"
    monkeypatch.setenv("FOURTIER_BUS_TOKEN", "")  # as a compose file passes what is not set
    assert secret(read_settings().bus_token) == SECRET


def test_a_directory_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURTIER_SECRETS", "/no/such/directory")
    with pytest.raises(StartupError, match="FOURTIER_SECRETS names /no/such/directory"):
        read_settings()


def test_a_directory_in_place_of_a_file_is_reported(mounted: Path) -> None:
    """Docker makes one where the file to be mounted is missing."""
    (mounted / "fourtier_bus_token").mkdir()
    with pytest.raises(StartupError, match=r"bus_token.*directory instead"):
        read_settings()


def test_a_file_that_is_not_text_is_reported_without_its_content(mounted: Path) -> None:
    mount(mounted, "fourtier_bus_token", b"s3cret\xff")
    with pytest.raises(StartupError, match="bus_token") as raised:
        read_settings()
    assert "s3cret" not in str(raised.value)


def test_what_holds_secrets_does_not_show_them() -> None:
    settings = Settings(bus_token=SECRET, graph_password=SECRET, vectors_key=SECRET)
    config = resolve_engines(EnginesConfig(), settings, Path())
    assert config.graph_password == config.vectors_key == SECRET
    bus = PulsarSecurity(token=SECRET), AdminConfig("http://x", SECRET)
    assert SECRET not in f"{settings!r} {settings} {config!r} {bus!r}"


def test_one_line_takes_secrets_out_and_cuts() -> None:
    assert one_line(f"a\n b {SECRET}\t c", SECRET, None, "") == "a b [secret] c"
    assert len(one_line("x" * 1_000)) < 310
