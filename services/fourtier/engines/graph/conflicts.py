"""Writing what builds on what was read, beside other writers."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fourtier.engines.graph.protocol import OvertakenError

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Each time another writer has got on, so that many are rare; more of them are a mistake of ours.
_TRIES = 20


async def again_when_overtaken(read_and_write: Callable[[], Awaitable[T]]) -> T:
    """Read and write, from the beginning whenever another writer was first.

    Raises:
        OvertakenError: another writer was first every time.
    """
    for _ in range(_TRIES - 1):
        try:
            return await read_and_write()
        except OvertakenError as error:
            log.debug("Another writer was first: %s", error)
    return await read_and_write()
