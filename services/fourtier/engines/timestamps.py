"""Times as the engines store them: ISO 8601 in UTC, texts of one length that sort by time."""

from datetime import UTC, datetime


def as_text(time: datetime) -> str:
    """A time for a property or a parameter."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def parse_time(text: str) -> datetime:
    """The time that a property holds."""
    return datetime.fromisoformat(text)
