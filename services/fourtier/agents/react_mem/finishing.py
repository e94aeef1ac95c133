"""Work that a cancelled caller must not leave half done."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Do the work to its end, even if the current task is cancelled meanwhile.

    Raises:
        asyncio.CancelledError: the task was cancelled; the work is done all the same.
    """
    task = asyncio.create_task(work, name="finish")
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
