"""When to ask an endpoint again: when it says, or after an exponentially growing pause."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fourtier.models.completion.errors import ModelBusyError, ModelError
from fourtier.runtime.rpc.retry import Retry


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between attempts.

    Attributes:
        retry: pauses where the endpoint does not say when.
        longest: seconds; an endpoint that wants a longer pause is given up at once, because
            whoever asked does not wait so long.
    """

    retry: Retry = field(default_factory=lambda: Retry(attempts=4, first=0.5, cap=20.0))
    longest: float = 60.0

    def pause(self, attempt: int, error: ModelError) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1); None to give up."""
        pause = self.retry.pause(attempt, error)
        after = error.after if isinstance(error, ModelBusyError) else None
        if pause is None or after is None:
            return pause
        return after if after <= self.longest else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the header Retry-After, which has a number or an HTTP date."""
    value = headers.get("Retry-After", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000" means UTC here
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
