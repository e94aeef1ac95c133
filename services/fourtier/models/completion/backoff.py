"""When an endpoint is asked again: when it says, or after an exponentially growing pause."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import stamina

from fourtier.models.completion.errors import ModelBusyError, ModelUnreachableError
from fourtier.schema.completion import COMPLETE


@dataclass(frozen=True, slots=True)
class Backoff:
    """The attempts at one completion and the pauses between them.

    Attributes:
        attempts: how often an endpoint is asked.
        longest: seconds; an endpoint that asks for a longer pause is not asked again, because the
            caller does not wait so long.
    """

    attempts: int = 4
    longest: float = 60.0

    def retries(self) -> AsyncIterator[stamina.Attempt]:
        """Attempts, for `with`; none begins after the caller's deadline.

        Raises: the error of the last attempt, and at once what is not worth another one.
        """
        return aiter(
            stamina.retry_context(
                on=self.pause,
                attempts=self.attempts,
                timeout=COMPLETE.deadline,
                wait_initial=0.5,
                wait_max=20.0,
                wait_jitter=0.5,
            )
        )

    def pause(self, error: Exception) -> bool | float:
        """Seconds until the next attempt; True leaves them to the backoff, False ends it."""
        if isinstance(error, ModelBusyError) and error.after is not None:
            return error.after if error.after <= self.longest else False
        return isinstance(error, ModelBusyError | ModelUnreachableError)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the header Retry-After, which has a number or an HTTP date; None without it."""
    value = headers.get("Retry-After", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        instant = parsedate_to_datetime(value)
    except ValueError:
        return None
    if instant.tzinfo is None:  # "-0000" means UTC here
        instant = instant.replace(tzinfo=UTC)
    return max(0.0, (instant - datetime.now(UTC)).total_seconds())
