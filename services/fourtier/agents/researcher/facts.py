"""The facts that mention some names, asked for beside the searches of a research by rule."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Protocol

from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.facts import RETRIEVE_FACTS, Fact, RetrieveFactsRequest
from fourtier.schema.researcher import ResearchRequest

log = logging.getLogger(__name__)

#: Facts that are read in a round.
_TOP_K = 10
#: Seconds for which `facts` is not asked after it gave no answer: a flow may not have it.
_PAUSE = 60.0


class Mentioning(Protocol):
    """Reads facts of the research's scope."""

    async def __call__(self, names: Sequence[str]) -> Sequence[Fact]:
        """Facts that mention one of these names, those that suit the question best first."""
        ...


class FactReader:
    """Asks `facts` for all researches, and leaves it alone for a while when it does not answer.

    Args:
        seconds: for which an answer is waited for.
    """

    def __init__(self, caller: Caller, seconds: float) -> None:
        self._caller = caller
        self._seconds = seconds
        self._silent_until = 0.0

    def of(self, request: ResearchRequest) -> Mentioning:
        """For one research; what it has asked once it does not ask again."""
        asked: set[str] = set()

        async def mentioning(names: Sequence[str]) -> Sequence[Fact]:
            if set(names) <= asked or time.monotonic() < self._silent_until:
                return ()
            asked.update(names)
            return await self._read(request, names)

        return mentioning

    async def _read(self, request: ResearchRequest, names: Sequence[str]) -> Sequence[Fact]:
        question = RetrieveFactsRequest(
            user=request.user,
            collection=request.collection,
            query=request.question,
            embedding=request.embedding,
            top_k=_TOP_K,
            mentions=tuple(names),
        )
        try:
            async with asyncio.timeout(self._seconds):
                return (await self._caller.call(RETRIEVE_FACTS, question)).facts
        except (TimeoutError, FourtierError) as error:
            self._silent_until = time.monotonic() + _PAUSE
            reason = str(error) or "no answer of facts in time"
            log.info("Research follows no facts for a minute: %s", reason)
            return ()
