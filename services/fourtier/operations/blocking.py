"""Take items of an iterator that blocks, without blocking the event loop or the process's end."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    """Nothing more comes: the iterator is exhausted, or has failed."""

    error: Exception | None = None


async def iterate_in_thread(items: Iterator[T]) -> AsyncGenerator[T]:
    """Yield the items, each taken when it is asked for.

    The thread is a daemon: a line that nobody types must not keep the process alive.

    Raises: what the iterator raises.
    """
    reader = _Reader(items, asyncio.get_running_loop())
    threading.Thread(target=reader.read, daemon=True, name="input").start()
    try:
        while not isinstance(item := await reader.next(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        reader.close()


class _Reader(Generic[T]):
    """Hands items from a thread to an event loop, one at a time."""

    def __init__(self, items: Iterator[T], loop: asyncio.AbstractEventLoop) -> None:
        self._items = items
        self._loop = loop
        self._taken: asyncio.Queue[T | _End] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        self._closed = threading.Event()

    async def next(self) -> T | _End:
        """Let the thread take an item, and wait for it."""
        self._wanted.release()
        return await self._taken.get()

    def close(self) -> None:
        """Let the thread end; while it waits for a line, that is when the line comes."""
        self._closed.set()
        self._wanted.release()

    def read(self) -> None:
        """Take items as they are wanted, in the thread."""
        item: T | _End | None = None
        while not isinstance(item, _End):
            self._wanted.acquire()
            item = _End() if self._closed.is_set() else _take(self._items)
            if self._closed.is_set():  # the loop may be closed too
                return
            self._loop.call_soon_threadsafe(self._taken.put_nowait, item)


def _take(items: Iterator[T]) -> T | _End:
    try:
        return next(items)
    except StopIteration:
        return _End()
    except Exception as error:  # noqa: BLE001 - raised where the items are taken
        return _End(error)
