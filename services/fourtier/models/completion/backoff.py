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
        first: seconds of the first pause where the endpoint asks for none.
    """

    attempts: int = 4
    longest: float = 60.0
    first: float = 0.5

    def retries(self) -> AsyncIterator[stamina.Attempt]:
        """Attempts, for `with`; none begins after the caller's deadline.

        Raises: the error of the last attempt, and at once what is not worth another one.
        """
        return aiter(
            stamina.retry_context(
                on=self.pause,
                attempts=self.attempts,
                timeout=COMPLETE.deadline,
                wait_initial=self.first,
                wait_max=20.0,
                wait_jitter=self.first,
            )
        )

    def pause(self, error: Exception) -> bool | float:
        """Seconds until the next attempt; True leaves them to the backoff, False ends it.

        A request whose endpoint pauses for all of them waits for that pause, and for nothing more.
        """
        if isinstance(error, ModelBusyError):
            if (error.retry_after or 0) > self.longest:
                return False
            return 0.0 if error.pauses_all else True
        return isinstance(error, ModelUnreachableError)


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
