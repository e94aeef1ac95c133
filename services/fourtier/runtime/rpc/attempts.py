"""The attempts that run right now: each has a time limit, and its caller can cancel it."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.runtime.errors import CancelledByCallerError, HandlerTimeoutError

#: How long an attempt may take to end when it was told to, in seconds, until it counts as hanging.
_GRACE = 10.0
#: A cancelled question may not have begun; so many are remembered until it does.
_MAX_REMEMBERED = 10_000


@dataclass(eq=False)
class AttemptScope:
    """One attempt at one message, or at a batch.

    Attributes:
        limit: seconds without progress until the attempt is ended.
        ends_at: by the event loop's clock.
    """

    topic: str
    limit: float
    timeout: asyncio.Timeout
    ends_at: float
    cancelled: bool = False

    def progress(self) -> None:
        """A part of the answer is there: the time limit begins anew."""
        if not self.cancelled:
            self.ends_at = asyncio.get_running_loop().time() + self.limit
            self.timeout.reschedule(self.ends_at)

    def cancel(self) -> None:
        """End the attempt now; its caller does not wait for it any more."""
        self.cancelled = True
        self.ends_at = asyncio.get_running_loop().time()
        self.timeout.reschedule(self.ends_at)


class RunningAttempts:
    """Of one route.

    Args:
        limit: seconds that an attempt may go on without progress.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._running: set[AttemptScope] = set()
        self._by_id: dict[str, AttemptScope] = {}
        self._cancelled: OrderedDict[str, None] = OrderedDict()

    @asynccontextmanager
    async def attempt(self, topic: str, message_id: str) -> AsyncGenerator[AttemptScope]:
        """Bound what happens in the context.

        Raises:
            HandlerTimeoutError: it took longer than the limit, and was ended.
            CancelledByCallerError: nobody waits for it any more.
        """
        if self._cancelled.pop(message_id, False) is None:
            raise CancelledByCallerError(topic)
        ends_at = asyncio.get_running_loop().time() + self._limit
        timeout = asyncio.timeout_at(ends_at)
        scope = AttemptScope(topic, self._limit, timeout, ends_at)
        self._running.add(scope)
        if message_id:
            self._by_id[message_id] = scope
        try:
            async with timeout:
                yield scope
        except TimeoutError as error:
            if scope.cancelled:
                raise CancelledByCallerError(topic) from error
            if timeout.expired():
                raise HandlerTimeoutError(topic, self._limit) from error
            raise
        finally:
            self._running.discard(scope)
            if self._by_id.get(message_id) is scope:
                del self._by_id[message_id]

    def cancel(self, message_id: str) -> None:
        """End the attempt at a message, or do not begin it."""
        scope = self._by_id.get(message_id)
        if scope is not None:
            scope.cancel()
            return
        self._cancelled[message_id] = None
        if len(self._cancelled) > _MAX_REMEMBERED:
            self._cancelled.popitem(last=False)

    def hanging(self) -> Sequence[str]:
        """Topics of attempts that should have ended and did not: a blocked or deaf handler."""
        late = asyncio.get_running_loop().time() - _GRACE
        return [scope.topic for scope in self._running if scope.ends_at < late]
