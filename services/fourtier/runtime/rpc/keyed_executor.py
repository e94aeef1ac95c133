"""Runs jobs of one key in order and of different keys concurrently, a bounded number at a time.

The bound is the backpressure of a route: `put` returns when there is room, so a service that cannot
keep up takes no more messages, and they wait on the bus.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Job = Callable[[], Coroutine[Any, Any, None]]

#: Jobs that wait cost little, and one key with many of them must not hold up the others.
_MAX_IN_FLIGHT = 256
#: Short jobs beside the others, such as answering the callers of shed messages.
_MAX_ASIDE = 1_000


class KeyedExecutor:
    """Runs jobs as tasks of a group; the group sees their errors and waits for them.

    Args:
        group: holds the tasks.
        max_concurrency: how many may hold `slot` at once. A job takes it for what it really does
            and gives it back while it pauses before another attempt.
        in_flight: how many there is room for at least.
    """

    def __init__(self, group: asyncio.TaskGroup, max_concurrency: int, in_flight: int = 0) -> None:
        self.slot = asyncio.Semaphore(max_concurrency)
        self._group = group
        self._in_flight = asyncio.Semaphore(max(2 * max_concurrency, _MAX_IN_FLIGHT, in_flight))
        self._aside = asyncio.Semaphore(_MAX_ASIDE)
        self._last: dict[str, asyncio.Task[None]] = {}

    def busy(self, key: str) -> bool:
        """Whether a job of this key is not done yet."""
        return key in self._last

    async def put(self, key: str, job: Job) -> None:
        """Start a job behind the last one of its key; an empty key waits for nobody.

        Returns when there is room for the job, not when it is done.
        """
        await self._in_flight.acquire()
        before = self._last.get(key) if key else None
        task = self._group.create_task(job() if before is None else _behind(before, job))
        if key:
            self._last[key] = task
        task.add_done_callback(lambda done: self._done(key, done))

    async def put_aside(self, job: Job) -> None:
        """Start a short job that takes no slot and no room from the others, and keeps no order.

        Returns at once, unless a thousand of them are not done yet.
        """
        await self._aside.acquire()
        task = self._group.create_task(job())
        task.add_done_callback(lambda _: self._aside.release())

    def _done(self, key: str, task: asyncio.Task[None]) -> None:
        self._in_flight.release()
        if self._last.get(key) is task:
            del self._last[key]


async def _behind(before: asyncio.Task[None], job: Job) -> None:
    await asyncio.wait([before])
    await job()
