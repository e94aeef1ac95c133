"""Jobs with one key one after another, different keys side by side, a bounded number in hand."""

import asyncio
from collections.abc import Awaitable, Callable

Job = Callable[[], Awaitable[None]]


class Lanes:
    """Runs jobs as tasks of a group; the group sees their errors and waits for them.

    Args:
        group: holds the tasks.
        side_by_side: how many jobs run at once.

    Twice as many may be in hand, so that one key with many jobs does not hold up the others.
    """

    def __init__(self, group: asyncio.TaskGroup, side_by_side: int) -> None:
        self._group = group
        self._running = asyncio.Semaphore(side_by_side)
        self._in_hand = asyncio.Semaphore(2 * side_by_side)
        self._last: dict[str, asyncio.Task[None]] = {}

    async def put(self, key: str, job: Job) -> None:
        """Start a job behind the last one of its key; an empty key waits for nobody.

        Returns when there is room for the job, not when it is done.
        """
        await self._in_hand.acquire()
        before = self._last.get(key) if key else None
        task = self._group.create_task(self._run(job, before))
        if key:
            self._last[key] = task
        task.add_done_callback(lambda done: self._done(key, done))

    async def _run(self, job: Job, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        async with self._running:
            await job()

    def _done(self, key: str, task: asyncio.Task[None]) -> None:
        self._in_hand.release()
        if self._last.get(key) is task:
            del self._last[key]
