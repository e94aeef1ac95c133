"""Lines of standard input, without blocking the event loop or the end of the process."""

import asyncio
import contextlib
import importlib
import sys
import threading
from collections.abc import AsyncIterator


async def input_lines(prompt: str) -> AsyncIterator[str]:
    """Yield lines until the end of input; `prompt` is shown when a person types.

    The reader is a daemon thread: a line that nobody types must not keep the process alive.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    wanted = threading.Semaphore(0)

    def read() -> None:
        while True:
            wanted.acquire()
            try:
                line: str | None = input(prompt)
            except (EOFError, KeyboardInterrupt, UnicodeDecodeError):
                line = None
            loop.call_soon_threadsafe(lines.put_nowait, line)
            if line is None:
                return

    if sys.stdin.isatty():
        with_history()
    threading.Thread(target=read, daemon=True, name="input").start()
    while True:
        wanted.release()
        line = await lines.get()
        if line is None:
            return
        yield line


def with_history() -> None:
    """Give the prompt line editing and a history, where the platform has them."""
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # importing it is what does it
