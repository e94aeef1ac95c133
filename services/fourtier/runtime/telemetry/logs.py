"""Logs: sentences for people, or JSON lines with their fields for a cluster."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any

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


def set_up_logs(level: str, log_format: str) -> None:
    """Log to standard error.

    Args:
        level: of Fourtier's own loggers; others stay at WARNING.
        log_format: `text` or `json`.

    Raises:
        StartupError: there is no such level.
    """
    if level.upper() not in logging.getLevelNamesMapping():
        raise StartupError(
            f"there is no log level {level!r}: write FOURTIER_LOG_LEVEL as DEBUG, INFO, WARNING "
            f"or ERROR"
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        _JsonLines()
        if log_format == "json"
        else logging.Formatter("%(asctime)s %(levelname).1s %(message)s", "%H:%M:%S")
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fourtier").setLevel(level.upper())
