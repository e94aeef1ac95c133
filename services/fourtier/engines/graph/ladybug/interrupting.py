"""A transaction in a thread that ends at its time limit."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Generic, TypeVar

import ladybug

from fourtier.engines.limits import TimeLimit

R = TypeVar("R")

#: Seconds between two interruptions: one that comes while a statement is planned has no effect.
_AGAIN_AFTER = 0.05
#: So long an interrupted transaction is waited for, to know that nothing of it was written.
_ENDS_WITHIN = 2.0


class Transaction(Generic[R]):
    """Work on a connection. What waits for its thread beyond the limit is not begun."""

    def __init__(
        self,
        connection: Callable[[], ladybug.Connection],
        work: Callable[[ladybug.Connection], R],
    ) -> None:
        self._connection = connection
        self._work = work
        self._lock = threading.Lock()
        self._running: ladybug.Connection | None = None
        self._expired = False

    async def run(self, executor: Executor, limit: TimeLimit) -> R:
        """Run it in a thread of the executor.

        Raises:
            UnavailableError: it took longer than the limit; it is rolled back. A commit cannot be
                interrupted: one that hangs is left to its thread.
        """
        future = asyncio.get_running_loop().run_in_executor(executor, self._run_in_thread)
        try:
            ended, _ = await asyncio.wait([future], timeout=limit.seconds)
            if not ended:
                await self._interrupt(future)
        except asyncio.CancelledError:
            future.cancel()
            raise
        if not future.done():
            future.add_done_callback(_retrieve)
            raise limit.exceeded()
        try:
            return future.result()
        except RuntimeError as error:
            if not self._expired:
                raise
            raise limit.exceeded() from error

    def _run_in_thread(self) -> R:
        with self._lock:
            if self._expired:
                raise RuntimeError("the transaction was not begun in time")
            connection = self._running = self._connection()
        try:
            return self._work(connection)
        finally:
            with self._lock:
                self._running = None

    async def _interrupt(self, future: asyncio.Future[R]) -> None:
        """Let it fail, again and again, until it has."""
        deadline = asyncio.get_running_loop().time() + _ENDS_WITHIN
        while not future.done() and asyncio.get_running_loop().time() < deadline:
            with self._lock:
                self._expired = True
                if self._running is not None:
                    self._running.interrupt()
            await asyncio.wait([future], timeout=_AGAIN_AFTER)


def _retrieve(future: asyncio.Future[R]) -> None:
    """Take the error of work that nobody waits for."""
    if not future.cancelled():
        future.exception()
