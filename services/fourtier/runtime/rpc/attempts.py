"""The attempts that run right now: each has a time limit, and its caller can cancel it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.runtime.errors import CancelledByCallerError, HandlerTimeoutError
from fourtier.runtime.recent_ids import RecentIds

#: How long an attempt may take to end after it was told to, in seconds, until it counts as hanging.
_GRACE = 10.0


@dataclass(eq=False)
class AttemptScope:
    """One attempt at one message, or at a batch.

    Attributes:
        call: the call that it answers; empty for a batch.
        limit: seconds without progress until the attempt is ended.
        ends_at: by the event loop's clock.
    """

    topic: str
    call: str
    limit: float
    timeout: asyncio.Timeout
    ends_at: float
    cancelled: bool = False

    def progress(self) -> None:
        """A part of the answer is there: the time limit begins anew."""
        if not self.cancelled:
            self._end_at(asyncio.get_running_loop().time() + self.limit)

    def cancel(self) -> None:
        """End the attempt now; its caller does not wait for it any more."""
        self.cancelled = True
        self._end_at(asyncio.get_running_loop().time())

    def _end_at(self, time: float) -> None:
        # A limit that is over cannot be moved: the handler has been told to end, and may go on.
        if not self.timeout.expired():
            self.ends_at = time
            self.timeout.reschedule(time)


class RunningAttempts:
    """Of one route.

    Args:
        limit: seconds that an attempt may go on without progress.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._running: set[AttemptScope] = set()
        #: Their questions may still wait in the broker.
        self._cancelled = RecentIds()

    @asynccontextmanager
    async def attempt(self, topic: str, call: str = "") -> AsyncGenerator[AttemptScope]:
        """Bound what happens in the context.

        Raises:
            HandlerTimeoutError: it took longer than the limit, and was ended.
            CancelledByCallerError: its caller does not wait for it any more.
        """
        if call and call in self._cancelled:
            raise CancelledByCallerError(topic)
        ends_at = asyncio.get_running_loop().time() + self._limit
        timeout = asyncio.timeout_at(ends_at)
        scope = AttemptScope(topic, call, self._limit, timeout, ends_at)
        self._running.add(scope)
        try:
            async with timeout:
                yield scope
        except TimeoutError as error:
            if not timeout.expired():
                raise  # the handler's own
            if scope.cancelled:
                raise CancelledByCallerError(topic) from error
            raise HandlerTimeoutError(topic, self._limit) from error
        finally:
            self._running.discard(scope)

    def cancel(self, call: str) -> None:
        """End the attempts at a call; a copy of its question that was not begun never is."""
        self._cancelled.add(call)
        for scope in self._running:
            if scope.call == call:
                scope.cancel()

    def hanging(self) -> Sequence[str]:
        """Topics of attempts that were told to end and did not: their handlers ignore it."""
        late = asyncio.get_running_loop().time() - _GRACE
        return sorted({scope.topic for scope in self._running if scope.ends_at < late})
