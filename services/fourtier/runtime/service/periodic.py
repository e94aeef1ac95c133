"""Work that a service does by itself, again and again, beside its messages."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)


@asynccontextmanager
async def periodic(
    name: str, seconds: float, job: Callable[[], Awaitable[None]]
) -> AsyncGenerator[None]:
    """Run a job every so many seconds while the context is open, the first time after one pause.

    A job that fails is logged and run again after the next pause: it must not end a service
    that still answers. The end of the context cancels a job in the middle, so it must be safe to
    be cut off anywhere, as by a crash.
    """
    task = asyncio.create_task(_repeat(name, seconds, job), name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _repeat(name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await job()
        except Exception:
            log.exception("%s failed and is tried again in %g s.", name, seconds)
