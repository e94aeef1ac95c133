"""What runs here: a note in the data directory, for those who want to talk to the flow."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.data_lock import PRIVATE_FILE, is_locked


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
    """Leave the note while the context is open; the caller holds the lock of the directory.

    Raises:
        StartupError: the note cannot be written.
    """
    file = _file(data)
    draft = file.with_suffix(".new")
    try:
        draft.touch(PRIVATE_FILE)
        draft.chmod(PRIVATE_FILE)  # one that a killed flow has left may be open to others
        draft.write_text(running.model_dump_json(indent=2), encoding="utf-8")
        draft.replace(file)  # a reader finds the whole note or none
    except OSError as error:
        raise StartupError(f"{file.absolute()} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_running(data: Path) -> Running:
    """Find out what runs with a data directory.

    A flow that was killed leaves its note behind, but not the lock: nobody else's process is taken
    for it, whatever its id.

    Raises:
        StartupError: nothing does.
    """
    try:
        running = Running.model_validate_json(_file(data).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        running = None
    if running is None or not is_locked(data):
        raise StartupError(
            f"no flow is running at {data.absolute()}: start one with `fourtier up`, "
            f"or name its bus in FOURTIER_BUS_URL"
        )
    return running
