"""Retry as a value: asked after each failure whether, and in how many seconds, to try again."""

import random
import time
from dataclasses import dataclass, field

from fourtier.runtime.bus.contract import BusError, RejectedByBusError
from fourtier.runtime.errors import FourtierError, HandlerTimeoutError, PermanentError


def is_temporary(error: Exception) -> bool:
    """Whether something is unavailable that is expected back."""
    return isinstance(error, FourtierError) and error.temporary


def wants_traceback(error: Exception) -> bool:
    """Whether the traceback says more than the message: of a bug, or where a handler hung."""
    return not isinstance(error, FourtierError) or isinstance(error, HandlerTimeoutError)


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with full jitter, up to a number of attempts.

    Attributes:
        attempts: how often a message is handled before it goes to the dead-letter queue.
        first: upper bound of the first pause, in seconds.
        cap: upper bound of every pause, in seconds.
        max_outage: for how many seconds a message waits for an engine that is unavailable. That is
            not a failure of the message: an outage of minutes must not send all messages of that
            time to the dead-letter queue. For the bus itself there is no end, as without it no
            message can be dead-lettered.
    """

    attempts: int = 6
    first: float = 0.1
    cap: float = 10.0
    max_outage: float = 3_600.0

    def pause(self, attempt: int, error: Exception) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1); None to fail."""
        if isinstance(error, PermanentError | RejectedByBusError) or attempt >= self.attempts:
            return None
        return self._jitter(attempt)

    def pause_in_outage(self, attempt: int, error: Exception, waited: float) -> float | None:
        """As `pause`, for an engine that is unavailable since `waited` seconds."""
        if waited >= self.max_outage and not isinstance(error, BusError):
            return None
        return self._jitter(attempt)

    def _jitter(self, attempt: int) -> float:
        # The exponent is bounded, as attempts without end would make it too large for a float.
        bound = min(self.cap, self.first * 2 ** min(attempt - 1, 32))
        return random.uniform(bound / 2, bound)  # noqa: S311 - jitter, not a secret


NEVER = Retry(attempts=1, max_outage=0.0)


@dataclass(slots=True)
class Attempts:
    """The attempts at one message."""

    retry: Retry
    made: int = 0
    _failed: int = 0
    _outage: int = 0
    _since: float = field(default_factory=time.monotonic)

    def pause(self, error: Exception) -> float | None:
        """Seconds to wait after a failed attempt; None to fail."""
        self.made += 1
        if is_temporary(error):
            self._outage += 1
            return self.retry.pause_in_outage(self._outage, error, time.monotonic() - self._since)
        self._outage = 0
        self._failed += 1
        return self.retry.pause(self._failed, error)
