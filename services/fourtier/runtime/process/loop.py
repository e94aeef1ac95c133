"""The event loop of a process that serves."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

if sys.platform == "win32":
    from asyncio import new_event_loop
else:
    from uvloop import new_event_loop

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, on uvloop: a process that serves does little else than pass messages on."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
