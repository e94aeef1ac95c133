"""A clock for tests of timeouts: time passes only where all tasks wait for it.

A test with a timeout of 50 ms fails on a machine that has no time for it for so long. On this
clock a pause is over as soon as nothing else is left to be done, so that nothing comes too late and
no test takes long. It is for what happens in this process and loop alone, as on `memory://`:
threads, sockets and other processes live by another clock.

The package looptime does the same, but its plugin takes hold of the loops of all tests and leaves
one unclosed where a test has none, which fails another test.
"""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import Any


class _Selector(selectors.DefaultSelector):
    """Takes what is there; the time for which it should wait has passed then."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select()
        ready = super().select(0)
        if not ready:
            self.now += max(0.0, timeout)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    """A loop that lives by the clock of its selector."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def on_its_own_clock(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a test on such a clock."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        async def tested() -> None:
            await test(*arguments, **named)

        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(tested())

    return run
