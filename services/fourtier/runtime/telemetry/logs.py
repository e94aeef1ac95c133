"""Logs: sentences for people, or JSON lines with their fields for a cluster."""

import json
import logging
import sys
from datetime import UTC, datetime

from fourtier.runtime import telemetry
from fourtier.runtime.errors import StartupError

#: What every record has; anything else on it came by `extra=` and is a field.
_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, trace and the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Render a record."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if trace := telemetry.trace_id():
            line["trace_id"] = trace
        for name, value in vars(record).items():
            if name not in _STANDARD:
                line.setdefault(name, value)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


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
        JsonFormatter()
        if log_format == "json"
        else logging.Formatter("%(asctime)s %(levelname).1s %(message)s", "%H:%M:%S")
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fourtier").setLevel(level.upper())
