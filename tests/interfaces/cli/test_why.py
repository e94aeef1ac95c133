"""`fourtier why`: the memories that were found for a run, best first, and what became of each."""

import json
from datetime import UTC, datetime

from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.archive import (
    GET_PAGE,
    ArchiveEntry,
    ArchivePage,
    FoundBy,
    GetPageRequest,
    GetPageResponse,
)
from fourtier.schema.conversations import GET_RUN, GetRunRequest, GetRunResponse
from fourtier.schema.episodes import (
    LIST_EPISODES,
    Episode,
    ListEpisodesRequest,
    ListEpisodesResponse,
)
from fourtier.schema.facts import GET_FACT, Fact, GetFactRequest, GetFactResponse
from fourtier.schema.tiers import MemoryConsidered
from tests.interfaces.cli.support import Command

DAY = datetime(2026, 3, 1, 10, tzinfo=UTC)
SAID = ArchiveEntry(
    id="a1", page_id="p1", source="c1", speaker="ann", content="\x1b[2JOslo is cold.", timestamp=DAY
)
PAGE = ArchivePage(
    id="p1", source="c1", number=1, entries=1, tokens=9, closed=False, started_at=DAY, ended_at=DAY
)
LEGS = {"words": FoundBy(rank=1, score=9.0), "meaning": FoundBy(rank=3, score=0.5)}
RUN = GetRunResponse(
    run_id="r1",
    conversation_id="c9",
    question="Where do I live?",
    timestamp=DAY,
    considered=(
        MemoryConsidered(tier="archive", id="a1", shown="whole", rank=1, score=2.5, legs=LEGS),
        MemoryConsidered(tier="facts", id="f1", shown="in-entry", rank=1, score=0.25),
        MemoryConsidered(tier="episodes", id="e1", shown="budget", rank=2, score=0.125),
        MemoryConsidered(tier="facts", id="gone", shown="outdated", rank=3),
        MemoryConsidered(tier="archive", id="a3", shown="repeated", rank=4),
        MemoryConsidered(tier="archive", id="a2", shown="in-conversation"),
    ),
)


def flow(asked: list[GetRunRequest]) -> list[Route]:
    async def run(request: GetRunRequest) -> GetRunResponse:
        asked.append(request)
        return RUN if request.run_id in {"", "r1"} else GetRunResponse()

    async def fact(request: GetFactRequest) -> GetFactResponse:
        known = Fact(id="f1", content="Oslo is cold.", source="c1", timestamp=DAY, valid_from=DAY)
        return GetFactResponse(fact=known if request.fact_id == "f1" else None)

    async def page(request: GetPageRequest) -> GetPageResponse:
        known = request.entry_id == "a1"
        return GetPageResponse(page=PAGE, entries=(SAID,)) if known else GetPageResponse(page=None)

    async def episodes(_: ListEpisodesRequest) -> ListEpisodesResponse:
        known = Episode(id="e1", goal="Move house", steps=(), outcome="", timestamp=DAY)
        return ListEpisodesResponse(episodes=(known,), total=1)

    return [
        call_route(GET_RUN, run),
        call_route(GET_FACT, fact),
        call_route(GET_PAGE, page),
        call_route(LIST_EPISODES, episodes),
    ]


def test_the_memories_of_a_run_are_printed_with_what_became_of_each(fourtier: Command) -> None:
    asked: list[GetRunRequest] = []
    fourtier.routes = flow(asked)

    assert fourtier("why", "--user", "ann") == 0
    assert fourtier.out.splitlines() == [
        "Where do I live?",
        "run r1 (2026-03-01 10:00), conversation c9",
        "1. archive (2026-03-01 10:00): in the prompt",
        "   \\x1b[2JOslo is cold.",
        "   found by words as number 1, meaning as number 3; score 2.50; a1",
        "1. fact (2026-03-01 10:00): has words of that entry",
        "   score 0.25; f1",
        "2. episode (2026-03-01 10:00): left out, no tokens were left for it",
        "   Move house",
        "   score 0.12; e1",
        "3. fact: left out, it no longer holds",
        "   forgotten or expired since",
        "   gone",
        "4. archive: left out, another says the same",
        "   forgotten or expired since",
        "   a3",
        "- archive: left out, the conversation has it",
        "   forgotten or expired since",
        "   a2",
    ]
    assert (asked[0].user, asked[0].run_id) == ("ann", "")


def test_as_json_there_is_all_of_it(fourtier: Command) -> None:
    fourtier.routes = flow([])
    assert fourtier("why", "r1", "--user", "ann", "--json") == 0
    printed = json.loads(fourtier.out)
    assert (printed["run_id"], len(printed["memories"])) == ("r1", 6)
    assert printed["memories"][0]["legs"]["words"]["rank"] == 1
    assert printed["memories"][3]["content"] is None


def test_a_run_that_is_not_known_is_said_to_be(fourtier: Command) -> None:
    fourtier.routes = flow([])
    assert fourtier("why", "r7", "--user", "ann") == 1
    assert "ann/default has no run r7" in fourtier.err
