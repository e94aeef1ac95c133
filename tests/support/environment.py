"""What is around the tests, made the same wherever they run."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hypothesis import HealthCheck, settings

from fourtier.models.contradictions.cross_encoder import CrossEncoder
from fourtier.models.embeddings import bundled
from fourtier.schema.topics import Call
from tests.support.declared import all_declared
from tests.support.scratch import in_memory

#: Of a flow, of a model and of OpenTelemetry. Tests would meet a server that somebody works with.
_SETTINGS = ("FOURTIER_", "OPENAI_", "OTEL_")
#: What they may be given: see `tests/cluster/servers.py`.
_REPORTED = "FOURTIER_TEST_"
#: How wide and how colourful a command prints.
_LOOKS = ("COLUMNS", "LINES", "TERMINAL_WIDTH", "NO_COLOR", "FORCE_COLOR", "PY_COLORS")
_LOOKS += ("GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
_NO_PROXY = ("no_proxy", "NO_PROXY")
#: Seconds for which a call waits for its answer, a query as well. A lost query is
#: retried after half of them.
_TIMEOUTS = 20.0


def forget_settings() -> None:
    """Leave nothing of the settings of whoever runs the tests, for these and their processes."""
    for name in list(os.environ):
        if name in _LOOKS or (name.startswith(_SETTINGS) and not name.startswith(_REPORTED)):
            del os.environ[name]
    for name in _NO_PROXY:
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))


def write_to_memory() -> None:
    """Have pytest make its `tmp_path` there, unless somebody has said where."""
    if (memory := in_memory()) is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


def let_examples_take_their_time() -> None:
    """Let no example of hypothesis fail because the machine had something else to do."""
    slow = [HealthCheck.too_slow]
    settings.register_profile("unhurried", deadline=None, suppress_health_check=slow)
    settings.load_profile("unhurried")


def let_calls_take_their_time() -> None:
    """Let no query in the tests' process fail after the five seconds that it has in use."""
    for declared in all_declared():
        if isinstance(declared, Call):
            object.__setattr__(declared, "deadline", max(declared.deadline, _TIMEOUTS))


@contextmanager
def short_deadline(call: Call[Any, Any], seconds: float) -> Generator[None]:
    """Wait only this long for an answer to a call, in a test where no answer comes."""
    before = call.deadline
    object.__setattr__(call, "deadline", seconds)
    try:
        yield
    finally:
        object.__setattr__(call, "deadline", before)


def load_the_models_once() -> None:
    """Give all flows of this process one of each bundled model: to load them is half a start."""
    bundled.load = cache(bundled.load)
    CrossEncoder.load = cache(CrossEncoder.load)  # type: ignore[method-assign]
