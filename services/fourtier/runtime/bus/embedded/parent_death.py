"""Lets a process end with its parent, however that ends: Linux only."""

import ctypes
import signal
import sys
from collections.abc import Callable

_SET_PARENT_DEATH_SIGNAL = 1


def ends_with_parent() -> Callable[[], None] | None:
    """What a child runs before its program, so that it gets SIGTERM when this process is gone.

    None where the system cannot do that; a parent that is killed then leaves the child behind.
    """
    if sys.platform != "linux":
        return None
    system = ctypes.CDLL(None, use_errno=True)  # here: after a fork as little as possible is done
    return lambda: system.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
