"""Keeps the threads of an executor from work for a moment."""

import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from fourtier.runtime.errors import UnavailableError

#: Work that runs longer keeps going, and nothing is paused.
_WITHIN = 5.0


@contextmanager
def paused(executor: ThreadPoolExecutor, threads: int) -> Generator[None]:
    """Wait until all of an executor's threads are done with their work, and let them wait then.

    Raises:
        UnavailableError: a thread was not done in time.
    """
    arrived, resumed = threading.Barrier(threads + 1), threading.Event()

    def wait() -> None:
        try:
            arrived.wait(_WITHIN)
        except threading.BrokenBarrierError:
            return
        resumed.wait()

    for _ in range(threads):
        executor.submit(wait)
    try:
        arrived.wait(_WITHIN)
        yield
    except threading.BrokenBarrierError as error:
        raise UnavailableError("a query takes too long to wait for it") from error
    finally:
        resumed.set()
