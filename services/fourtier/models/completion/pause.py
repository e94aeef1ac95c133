"""The pause of an endpoint that has too many requests: one for all that wait for it."""

import asyncio
import random

#: Seconds that no pause is longer than, unless the endpoint asks for more.
_CAP = 20.0


class SharedPause:
    """Keeps requests from an endpoint that answers 429, until its pause is over.

    Args:
        first: seconds of the first pause where the endpoint names none; each one that follows
            without an answer in between is twice as long.
        cap: seconds of the longest of these.
    """

    def __init__(self, first: float, cap: float = _CAP) -> None:
        self._first = first
        self._cap = cap
        self._until = 0.0
        self._in_row = 0

    @staticmethod
    def now() -> float:
        """The clock of the pauses, in seconds."""
        return asyncio.get_running_loop().time()

    @property
    def seconds_left(self) -> float:
        """0 where there is no pause."""
        return max(0.0, self._until - self.now())

    async def over(self, longest: float) -> float:
        """Wait for the end of the pause, or return at once where it takes too long.

        Args:
            longest: seconds that are waited at most.

        Returns:
            The seconds that are left: 0 when the endpoint may be asked.
        """
        while 0 < self.seconds_left <= longest:  # noqa: ASYNC110 - it may grow meanwhile
            await asyncio.sleep(self.seconds_left)
        return self.seconds_left

    def extend(self, asked_at: float, seconds: float | None) -> None:
        """The endpoint rejected a request because there are too many.

        Args:
            asked_at: when the request was sent. Where that was before the end of the last pause,
                its answer is no news.
            seconds: that the endpoint asks for; None if it does not say.
        """
        if seconds is not None:
            self._until = max(self._until, self.now() + seconds)
        elif asked_at >= self._until:
            doubled = self._first * 2 ** min(self._in_row, 32)
            self._until = self.now() + min(self._cap, doubled * random.uniform(1, 1.5))  # noqa: S311 - jitter
            self._in_row += 1

    def answered(self) -> None:
        """The endpoint took a request."""
        self._in_row = 0
