"""Write the index of all facts from the graph, part by part."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from fourtier.client import Client
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import DeadlineExceededError
from fourtier.runtime.rpc.retry import Retry
from fourtier.schema.facts import ReindexFactsResponse

#: A service that is restarted meanwhile is asked for the same part again.
_RETRY = Retry(attempts=3, first=1.0)


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
    cursor, first = "", True
    while cursor or first:
        part = await _part(client, cursor)
        result.add(part)
        progress(result)
        cursor, first = part.cursor, False
    return result


async def _part(client: Client, cursor: str) -> ReindexFactsResponse:
    """Ask for a part, again where no answer comes: a part that is written twice does no harm."""
    attempt = 1
    while True:
        try:
            return await client.facts.reindex(cursor)
        except (DeadlineExceededError, BusError) as error:
            pause = _RETRY.pause(attempt, error)
            if pause is None:
                raise
            await asyncio.sleep(pause)
            attempt += 1
