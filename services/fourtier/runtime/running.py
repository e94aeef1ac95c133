"""What runs here: a note in the data directory, for those who want to talk to the flow."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fourtier.runtime.errors import StartupError


class Running(BaseModel):
    """A flow that is up: where its bus is and who runs it."""

    model_config = ConfigDict(frozen=True)

    flow: str
    bus_url: str
    tenant: str
    namespace: str
    pid: int
    health_port: int
    services: tuple[str, ...]


def _file(data: Path) -> Path:
    return data / "running.json"


@contextmanager
def announced(data: Path, running: Running) -> Generator[None]:
    """Leave the note while the context is open."""
    file = _file(data)
    draft = file.with_suffix(".new")
    draft.write_text(running.model_dump_json(indent=2), encoding="utf-8")
    draft.replace(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_running(data: Path) -> Running:
    """Find out what runs with a data directory.

    Raises:
        StartupError: nothing does.
    """
    try:
        running = Running.model_validate_json(_file(data).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        running = None
    if running is None or not _is_alive(running.pid):
        raise StartupError(
            f"no flow is running at {data.absolute()}: start one with `fourtier up`, "
            f"or name its bus in FOURTIER_BUS_URL"
        )
    return running


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
