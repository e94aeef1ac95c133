"""Times as the engines keep them: ISO 8601 in UTC, texts of one length that sort as moments do."""

from datetime import UTC, datetime


def as_text(moment: datetime) -> str:
    """A moment for a property or a parameter."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def as_moment(text: str) -> datetime:
    """The moment that a property holds."""
    return datetime.fromisoformat(text)
