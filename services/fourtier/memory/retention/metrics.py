"""What retention did: counted, so that nobody has to guess where a memory went."""

from typing import Literal

from fourtier.runtime.telemetry import CountedMetric

NOT_STORED = CountedMetric(
    "fourtier.retention.not_stored", "memories that were not stored, by kind and reason", "{memory}"
)
REMOVED = CountedMetric(
    "fourtier.retention.removed",
    "memories that were deleted because they had expired or their scope was full",
    "{memory}",
)

#: The user has opted out, the scope is full, or it was said too long ago.
NotStored = Literal["opt-out", "quota", "expired"]
Removed = Literal["expired", "evicted"]


def count_not_stored(kind: str, reason: NotStored, number: int = 1) -> None:
    """Count memories of a kind (`fact`, `episode`, `conversation`, `exchange`, `entry`)."""
    if number:
        NOT_STORED.add(number, {"fourtier.memory.kind": kind, "fourtier.retention.reason": reason})


def count_removed(kind: str, reason: Removed, number: int) -> None:
    """Count memories of a kind that were there and are deleted."""
    if number:
        REMOVED.add(number, {"fourtier.memory.kind": kind, "fourtier.retention.reason": reason})
