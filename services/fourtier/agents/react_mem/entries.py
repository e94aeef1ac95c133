"""Entries of the archive for a run: by one search, or by a research where that is asked for."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.research_ids import research_of
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentRequest
from fourtier.schema.archive import SEARCH_ARCHIVE, ArchiveHit, SearchArchiveRequest
from fourtier.schema.message import MAX_ITEMS, Vector
from fourtier.schema.researcher import MAX_EVIDENCE, RESEARCH, Receipt, ResearchRequest

log = logging.getLogger(__name__)

#: Characters of a question by which memories are searched; models read less of it.
MAX_QUERY = 8_000
#: Entries that are asked for beyond those that are wanted: some stand in the conversation already.
_SPARE = 20
#: Rounds that a research may take, and how many times more entries a deep one hands over.
_AUTO_ROUNDS, _DEEP_ROUNDS, _DEEP = 2, 4, 2
#: Tokens of evidence, which the context limits by itself.
_MAX_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class FoundEntries:
    """What the archive has for a question, best first.

    Attributes:
        wanted: so many of them at most belong into the context; the rest is to spare.
        receipt: of the research, where there was one.
    """

    entries: Sequence[ArchiveHit]
    wanted: int
    opted_out: bool = False
    receipt: Receipt | None = None


class EntryReader:
    """Asks the archive on behalf of a run.

    Args:
        run_id: the same when the run is taken up after an interruption.
    """

    def __init__(self, caller: Caller, parameters: AgentParameters, run_id: str) -> None:
        self._caller = caller
        self._parameters = parameters
        self._run_id = run_id

    async def read(self, request: AgentRequest, vector: Vector | None) -> FoundEntries | None:
        """Find entries; None where the flow wants none.

        A research that fails or takes too long is replaced by a search: one that is not deep after
        half the time that a tier has.
        """
        if self._parameters.archive_retrieval_top_k == 0:
            return None
        if (mode := self._parameters.research_mode(request)) != "off":
            half = self._parameters.tier_seconds / 2
            seconds = self._parameters.deep_research_seconds if mode == "deep" else half
            try:
                async with asyncio.timeout(seconds):
                    return await self._research(request, vector)
            except (TimeoutError, FourtierError) as error:
                reason = error or "no answer in time"
                log.warning("The archive is searched without research: %s", reason)
        return await self._search(request, vector)

    async def _search(self, request: AgentRequest, vector: Vector | None) -> FoundEntries:
        wanted = self._parameters.archive_retrieval_top_k
        found = await self._caller.call(
            self._parameters.with_tier_deadline(SEARCH_ARCHIVE),
            SearchArchiveRequest(
                query=request.question[:MAX_QUERY],
                embedding=vector,
                top_k=min(MAX_ITEMS, wanted + _SPARE),
                explain=True,
                user=request.user,
                collection=request.collection,
            ),
        )
        asked_before = request.question.strip()
        entries = [hit for hit in found.hits if hit.entry.content.strip() != asked_before]
        return FoundEntries(entries, wanted, found.opted_out)

    async def _research(self, request: AgentRequest, vector: Vector | None) -> FoundEntries:
        deep = self._parameters.research_mode(request) == "deep"
        wanted = self._parameters.archive_retrieval_top_k * (_DEEP if deep else 1)
        asked = ResearchRequest(
            question=request.question,
            research_id=research_of(self._run_id),
            embedding=vector,
            max_rounds=_DEEP_ROUNDS if deep else _AUTO_ROUNDS,
            max_evidence=min(MAX_EVIDENCE, wanted + _SPARE),
            max_tokens=_MAX_TOKENS,
            method=None if deep else "rule",  # an answer waits for it, a model takes seconds
            user=request.user,
            collection=request.collection,
        )
        found = FoundEntries((), wanted)
        async with aclosing(self._caller.stream(RESEARCH, asked)) as steps:
            async for step in steps:
                entries = [ArchiveHit(entry=each.entry, score=each.score) for each in step.evidence]
                found = FoundEntries(entries, wanted, step.opted_out, step.receipt)
        return found
