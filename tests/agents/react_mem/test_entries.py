"""What a run takes from the archive: by one search, or by a research where that is asked for."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourtier.agents.react_mem.entries import EntryReader, FoundEntries
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route, stream_route
from fourtier.schema.agent import AgentRequest
from fourtier.schema.archive import SEARCH_ARCHIVE, SearchArchiveRequest, SearchArchiveResponse
from fourtier.schema.message import Vector
from fourtier.schema.researcher import (
    RESEARCH,
    Evidence,
    Receipt,
    ResearchProgress,
    ResearchRequest,
)
from tests.agents.researcher.entries import turn
from tests.runtime.rpc.support import served
from tests.support.clock import on_its_own_clock

VECTOR = Vector.of([1.0, 2.0])
RECEIPT = Receipt(
    stopped="enough", rounds=1, searches=1, entries=9, tokens=40, cut=0, milliseconds=9
)


@dataclass
class Archive:
    """Stands in for archive and researcher; the researcher `fails`, or `takes` seconds."""

    fails: str = ""
    takes: float = 0
    opted_out: bool = False
    searched: list[SearchArchiveRequest] = field(default_factory=list)
    researched: list[ResearchRequest] = field(default_factory=list)

    async def search(self, request: SearchArchiveRequest) -> SearchArchiveResponse:
        self.searched.append(request)
        asked = turn("asked", " Whose flat? ", 2.0)
        return SearchArchiveResponse(hits=(asked, turn("searched", "So it was.", 1.0)))

    async def research(self, request: ResearchRequest) -> AsyncIterator[ResearchProgress]:
        self.researched.append(request)
        if self.fails:
            raise PermanentError(self.fails)
        await asyncio.sleep(self.takes)
        found = turn("researched", "So it was.", 1.0).entry
        yield ResearchProgress(step="hits", round=1, found=1, new=1)
        yield ResearchProgress(
            step="end",
            round=1,
            evidence=(Evidence(entry=found, score=1.0, round=1),),
            receipt=RECEIPT,
            opted_out=self.opted_out,
        )

    async def read(self, parameters: AgentParameters, **request: Any) -> FoundEntries | None:
        routes = (call_route(SEARCH_ARCHIVE, self.search), stream_route(RESEARCH, self.research))
        bus = MemoryBus()
        async with served(bus, *routes), open_caller(bus) as caller:
            asked = AgentRequest(question="Whose flat?", user="ann", **request)
            return await EntryReader(caller, parameters, "r1").read(asked, VECTOR)


@pytest.mark.parametrize(
    ("flow", "asked", "rounds", "wanted", "method"),
    [
        ("off", None, None, 10, None),
        ("auto", None, 2, 10, "rule"),
        ("deep", None, 4, 20, None),
        ("off", "auto", 2, 10, "rule"),
        ("auto", "off", None, 10, None),
        ("auto", "deep", 4, 20, None),
    ],
)
async def test_the_request_says_how_the_archive_is_searched_and_else_the_flow(
    flow: Any, asked: Any, rounds: int | None, wanted: int, method: str | None
) -> None:
    archive = Archive()
    found = await archive.read(AgentParameters(research=flow), research=asked)

    assert found is not None
    assert found.wanted == wanted
    if rounds is None:
        assert [each.entry.id for each in found.entries] == ["searched"]
        assert (found.receipt, archive.researched) == (None, [])
        assert archive.searched[0].embedding == VECTOR
    else:
        assert [each.entry.id for each in found.entries] == ["researched"]
        assert (found.receipt, archive.searched) == (RECEIPT, [])
        (request,) = archive.researched
        assert (request.max_rounds, request.embedding) == (rounds, VECTOR)
        assert request.method == method, "no answer waits for a model unless that is asked for"
        assert request.max_evidence > wanted, "some stand in the conversation already"


async def test_a_research_that_fails_is_replaced_by_a_search() -> None:
    found = await Archive(fails="no").read(AgentParameters(research="deep"))
    assert found is not None
    assert [each.entry.id for each in found.entries] == ["searched"]


@pytest.mark.parametrize(("mode", "entries"), [("auto", "searched"), ("deep", "researched")])
@on_its_own_clock
async def test_a_deep_research_has_more_time_than_a_tier(mode: Any, entries: str) -> None:
    parameters = AgentParameters(research=mode, tier_seconds=4, deep_research_seconds=20)
    found = await Archive(takes=10).read(parameters)
    assert found is not None
    assert [each.entry.id for each in found.entries] == [entries]


@on_its_own_clock
async def test_a_deep_research_that_takes_too_long_is_replaced_by_a_search() -> None:
    parameters = AgentParameters(research="deep", deep_research_seconds=10)
    found = await Archive(takes=20).read(parameters)
    assert found is not None
    assert [each.entry.id for each in found.entries] == ["searched"]


async def test_a_flow_that_wants_no_entries_asks_for_none() -> None:
    archive = Archive()
    assert await archive.read(AgentParameters(archive_retrieval_top_k=0, research="deep")) is None
    assert (archive.searched, archive.researched) == ([], [])


async def test_a_user_who_has_opted_out_is_known_from_research_too() -> None:
    found = await Archive(opted_out=True).read(AgentParameters(research="auto"))
    assert found is not None
    assert found.opted_out
