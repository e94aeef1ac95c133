"""Writing what builds on what was read, beside other writers."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fourtier.runtime.service.stores.graph import ConflictError

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Each time another writer has got on, so that many are rare; more of them are a mistake of ours.
_TRIES = 20


async def retry_on_conflict(read_and_write: Callable[[], Awaitable[T]]) -> T:
    """Read and write, from the beginning whenever another writer was first.

    At once and without a pause, as the other writer is done by then: a backoff (`stamina`) would
    make each conflict cost what waiting costs. And it takes a function, not a block of code: what
    is written has to be made of what is read in the same attempt.

    Raises:
        ConflictError: another writer was first every time.
    """
    for _ in range(_TRIES - 1):
        try:
            return await read_and_write()
        except ConflictError as error:
            log.debug("Another writer was first: %s", error)
    return await read_and_write()
