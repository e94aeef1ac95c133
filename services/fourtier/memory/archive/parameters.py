"""What a flow can set for the archive."""

from typing import Literal

from pydantic import Field

from fourtier.memory.retention.parameters import CENTURY, RetentionParameters


class ArchiveParameters(RetentionParameters):
    """How long entries are stored, how many, and how long a search or a closed page waits."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=CENTURY, description="stored for so long after it was said"
    )
    when_full: Literal["evict-oldest", "reject"] = Field(
        default="evict-oldest",
        description="what was said longest ago goes, or what is new is rejected",
    )
    embedding_seconds: float = Field(
        default=3,
        gt=0,
        description="after so long without a vector of the query only its words are searched",
    )
    announcement_seconds: float = Field(
        default=30,
        gt=0,
        description="pause between two looks for closed pages that nobody was told of",
    )
