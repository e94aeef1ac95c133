"""Retry as a value: asked after each failure whether, and in how many seconds, to try again."""

import random
from dataclasses import dataclass

from fourtier.runtime.errors import RefusedError


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with full jitter, up to a number of attempts.

    Attributes:
        attempts: how often a message is handled before it goes to the dead letters.
        first: upper bound of the first pause, in seconds.
        cap: upper bound of every pause, in seconds.
    """

    attempts: int = 6
    first: float = 0.1
    cap: float = 10.0

    def pause(self, attempt: int, error: Exception) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1); None to give up."""
        if isinstance(error, RefusedError) or attempt >= self.attempts:
            return None
        bound = min(self.cap, self.first * 2 ** (attempt - 1))
        return random.uniform(bound / 2, bound)  # noqa: S311 - jitter, not a secret


NEVER = Retry(attempts=1)
