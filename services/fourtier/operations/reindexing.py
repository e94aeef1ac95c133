"""Write the indexes of all facts and of the archive from their graphs, part by part."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina

from fourtier.client import Client
from fourtier.runtime.rpc.retry import is_temporary
from fourtier.schema.archive import ReindexArchiveResponse
from fourtier.schema.facts import ReindexFactsResponse

#: A service that is restarted meanwhile is asked for the same part again.
_ATTEMPTS = 3
P = TypeVar("P", ReindexFactsResponse, ReindexArchiveResponse)


@dataclass(slots=True)
class ReindexResult:
    """How far it is.

    Attributes:
        indexed: facts that were written to the index.
        removed: entries without a fact that were removed.
        facts: how many facts there are in all.
        left: how many more entries than facts there are now.
    """

    indexed: int = 0
    removed: int = 0
    facts: int = 0
    left: int = 0

    def add(self, part: ReindexFactsResponse) -> None:
        """Count a part that is done."""
        self.indexed += part.indexed
        self.removed += part.removed
        self.facts = part.facts
        self.left = part.points - part.facts


async def reindex_facts(
    client: Client, progress: Callable[[ReindexResult], None] = lambda _: None
) -> ReindexResult:
    """Write the whole index; `progress` is called after each part.

    Raises:
        CallFailedError: the service could not write a part.
        DeadlineExceededError: the service does not answer.
        BusError: the bus does not take the request.
    """
    result = ReindexResult()
    async for part in _parts(client.facts.reindex):
        result.add(part)
        progress(result)
    return result


async def reindex_archive(
    client: Client, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> int:
    """Write the whole index of the archive; returns of how many entries.

    Args:
        client: of the running flow.
        progress: called after each part with how many entries are done, and of how many.

    Raises: as `reindex_facts`.
    """
    indexed = 0
    async for part in _parts(client.archive.reindex):
        indexed += part.indexed
        progress(indexed, part.entries)
    return indexed


async def _parts(reindex: Callable[[str], Awaitable[P]]) -> AsyncGenerator[P]:
    """Ask for part after part; the cursor of each begins the next, and an empty one ends."""
    part = await _part(reindex, "")
    yield part
    while part.cursor:
        part = await _part(reindex, part.cursor)
        yield part


async def _part(reindex: Callable[[str], Awaitable[P]], cursor: str) -> P:
    """Ask for a part, again after a temporary error: a part that is written twice does no harm."""
    async for attempt in stamina.retry_context(
        on=is_temporary, attempts=_ATTEMPTS, timeout=None, wait_initial=1.0, wait_max=10.0
    ):
        with attempt:
            return await reindex(cursor)
    raise AssertionError("the last attempt returns or raises")
