"""Other work on the machine: processes that take as much of the processors as they get."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

#: It ends by itself when the process that started it is gone, in whatever way.
_WORK = """
import os
parent = os.getppid()
while os.getppid() == parent:
    sum(range(1_000_000))
"""


@asynccontextmanager
async def busy_machine(processes: int) -> AsyncGenerator[None]:
    """Let so many processes work until the context ends; they have the priority of this one."""
    async with AsyncExitStack() as stack:
        for _ in range(processes):
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", _WORK)
            stack.push_async_callback(process.wait)
            stack.callback(process.kill)
        yield
