"""Makes deletion erase: an embedded store is rewritten after deletions, without what was deleted.

Engines mark what is deleted and leave its bytes in write-ahead logs, payload pages and freed pages
until they happen to be used again. So a store that something was deleted from is *due*, which its
manifest says too, and is copied into new files: some seconds after the last write, when the store
is closed, and when somebody asks for it. That costs as much as the store is large; so that a large
store is not copied for each single deletion, it is at rest for a multiple of the time between.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.engines.manifest import Manifest
from fourtier.runtime.errors import UnavailableError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ErasureSchedule:
    """When a store that is due is rewritten by itself; times in seconds.

    Attributes:
        rest: so long nobody wrote.
        overdue: after so long it is done between writes.
        pause_factor: after a rewriting, the next one waits so many times as long as it took: 20
            is a twentieth of the time.
        retry: after a failure.
    """

    rest: float = 5.0
    overdue: float = 60.0
    pause_factor: float = 20.0
    retry: float = 60.0


DEFAULT_SCHEDULE = ErasureSchedule()


class Eraser:
    """Knows what was written and deleted in a store, and has it rewritten.

    Args:
        manifest: of the store; keeps across a crash that the store is due.
        rewrite: copies the store into new files; raises where it stays as it was.
        schedule: when it is done by itself.
    """

    def __init__(
        self,
        manifest: Manifest,
        rewrite: Callable[[], Awaitable[None]],
        schedule: ErasureSchedule,
    ) -> None:
        self._manifest = manifest
        self._rewrite = rewrite
        self._schedule = schedule
        self._due = asyncio.Event()
        self._due_since = 0.0
        self._changed_at = 0.0
        self._not_before = 0.0
        self._changes = self._deletions = 0
        self._erased_through = -1
        self._rewriting, self._marking = asyncio.Lock(), asyncio.Lock()

    @asynccontextmanager
    async def writing(self, *, deletes: bool) -> AsyncGenerator[None]:
        """Around a write. The manifest says that the store is due before anything is deleted."""
        await self._changed(deletes=deletes)
        try:
            yield
        finally:
            # Counted again: a rewriting that began meanwhile may have copied what is gone now.
            await self._changed(deletes=deletes)

    async def _changed(self, *, deletes: bool) -> None:
        self._changes += 1
        self._changed_at = asyncio.get_running_loop().time()
        if deletes:
            self._deletions += 1
            await self._mark(due=True)

    async def _mark(self, *, due: bool) -> None:
        async with self._marking:
            if due == self._due.is_set():
                return
            try:
                await asyncio.to_thread(self._manifest.mark_erasure, due=due)
            except OSError as error:
                raise UnavailableError(
                    f"the manifest {self._manifest.file} cannot be written: {error.strerror}"
                ) from error
            if due:
                self._due_since = asyncio.get_running_loop().time()
                self._due.set()
            else:
                self._due.clear()

    async def erase(self) -> None:
        """Rewrite the store now, unless nothing was written since it was rewritten last."""
        wanted = self._changes
        async with self._rewriting:
            if self._erased_through < wanted:
                await self._rewrite_once()

    async def _rewrite_once(self) -> None:
        loop = asyncio.get_running_loop()
        begun, changes, deletions = loop.time(), self._changes, self._deletions
        await self._rewrite()
        took = loop.time() - begun
        self._not_before = loop.time() + self._schedule.pause_factor * took
        self._erased_through = changes
        if self._deletions == deletions:
            await self._mark(due=False)
        else:
            self._due_since = loop.time()
        log.info("Rewrote %s without what was deleted, in %.1f s.", self._manifest.path, took)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Rewrite the store when it is due, until the context ends, and then once more."""
        if await asyncio.to_thread(self._manifest.erasure_due):
            await self._mark(due=True)
        task = asyncio.create_task(self._run(), name=f"erasure in {self._manifest.path.name}")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._try()

    async def _run(self) -> None:
        while True:
            await self._due.wait()
            await self._wait_for_rest()
            if not await self._try():
                await asyncio.sleep(self._schedule.retry)

    async def _try(self) -> bool:
        """Rewrite the store if it is due; a failure is logged, and the store stays as it was."""
        try:
            async with self._rewriting:
                if self._due.is_set():
                    await self._rewrite_once()
        except Exception:
            log.exception(
                "%s could not be rewritten; bytes of what was deleted may still be in it.",
                self._manifest.path,
            )
            return False
        return True

    async def _wait_for_rest(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            at_rest = min(
                self._changed_at + self._schedule.rest, self._due_since + self._schedule.overdue
            )
            pause = max(at_rest, self._not_before) - loop.time()
            if pause <= 0:
                return
            await asyncio.sleep(pause)
