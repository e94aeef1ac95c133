"""What a flow sets of the retention of a kind of memory, the same for all of them."""

from datetime import timedelta

from pydantic import Field

from fourtier.runtime.service import Parameters

#: In days: so long ago must still be a date.
CENTURY = 36_500.0


class RetentionParameters(Parameters):
    """How long memories of a kind are stored, and how many."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=CENTURY, description="stored for so long; without it for ever"
    )
    max_per_scope: int | None = Field(
        default=None, ge=1, description="quota of a user's collection; without it there is none"
    )
    sweep_seconds: float = Field(
        default=600, gt=0, description="pause between two looks for what has expired or is too much"
    )

    @property
    def ttl(self) -> timedelta | None:
        """How long memories are stored; None for ever."""
        return None if self.ttl_days is None else timedelta(days=self.ttl_days)
