"""Logs: sentences for people, or JSON lines with their fields for a cluster."""

import copy
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

from pythonjsonlogger.json import JsonFormatter

from fourtier.runtime import telemetry
from fourtier.runtime.errors import StartupError


class _JsonLines(JsonFormatter):
    """One JSON object a line: time, level, logger, message, trace and the fields of `extra`."""

    def __init__(self) -> None:
        super().__init__(
            (),
            rename_fields={"exc_info": "exception"},
            json_default=str,
            json_ensure_ascii=False,
        )

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Put what every line has before the fields, and let no field take its name."""
        own = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.message,
        }
        if trace := telemetry.trace_id():
            own["trace_id"] = trace
        log_data.update(own)
        super().add_fields(log_data, record, message_dict)
        log_data.update(own)


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to standard error what `redacted` leaves of messages and tracebacks."""

    def __init__(self, redacted: Callable[[str], str]) -> None:
        super().__init__(sys.stderr)
        self._redacted = redacted

    def format(self, record: logging.LogRecord) -> str:
        """Format a copy: other handlers get the record as it is."""
        own = copy.copy(record)
        own.msg, own.args = self._redacted(record.getMessage()), None
        if record.exc_info:
            own.exc_text = self._redacted(logging.Formatter().formatException(record.exc_info))
            own.exc_info = None
        return super().format(own)


def _as_it_is(text: str) -> str:
    return text


def set_up_logs(level: str, log_format: str, redacted: Callable[[str], str] = _as_it_is) -> None:
    """Log to standard error.

    Args:
        level: of Fourtier's own loggers; others stay at WARNING.
        log_format: `text` or `json`.
        redacted: takes out of a text what logs must not have.

    Raises:
        StartupError: there is no such level.
    """
    if level.upper() not in logging.getLevelNamesMapping():
        raise StartupError(
            f"there is no log level {level!r}: write FOURTIER_LOG_LEVEL as DEBUG, INFO, WARNING "
            f"or ERROR"
        )
    handler = _Handler(redacted)
    handler.setFormatter(
        _JsonLines()
        if log_format == "json"
        else logging.Formatter("%(asctime)s %(levelname).1s %(message)s", "%H:%M:%S")
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    # It says of each retry that there is one; what fails is logged where it is retried.
    logging.getLogger("stamina").setLevel(logging.ERROR)
    logging.getLogger("fourtier").setLevel(level.upper())
