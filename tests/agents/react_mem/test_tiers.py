"""What a run asks the memory services, and how long it waits for their answers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.tiers import Memories, TierReader
from fourtier.agents.react_mem.timings import Timings
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route, stream_route
from fourtier.schema.agent import AgentRequest
from fourtier.schema.archive import (
    SEARCH_ARCHIVE,
    ArchiveEntry,
    ArchiveHit,
    SearchArchiveRequest,
    SearchArchiveResponse,
)
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    ConversationMemory,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
    InvocationSummary,
)
from fourtier.schema.embeddings import EMBED, EmbedRequest, EmbedResponse
from fourtier.schema.episodes import (
    RETRIEVE_EPISODES,
    RetrieveEpisodesRequest,
    RetrieveEpisodesResponse,
)
from fourtier.schema.facts import RETRIEVE_FACTS, RetrieveFactsRequest, RetrieveFactsResponse
from fourtier.schema.message import Message, Vector
from fourtier.schema.researcher import RESEARCH, Evidence, ResearchProgress, ResearchRequest
from tests.runtime.rpc.support import served
from tests.support.clock import on_its_own_clock

LATE = 20
SAID = datetime(2026, 3, 1, tzinfo=UTC)


def vector_of(text: str) -> Vector:
    return Vector.of([float(len(text)), 1.0])


def hit(entry: tuple[str, str]) -> ArchiveHit:
    """An entry of a conversation and a run."""
    source, run = entry
    return ArchiveHit(
        entry=ArchiveEntry(
            id=f"{source}/{run}",
            page_id="p",
            source=source,
            invocation_id=run,
            content="So it was.",
            timestamp=SAID,
        ),
        score=1.0,
    )


@dataclass
class Services:
    """Stand in for the memory services.

    Attributes:
        asked: what they were asked, in order.
        archived: conversations and runs of the entries that the archive finds.
        recorded: runs of the conversation.
    """

    asked: list[Message] = field(default_factory=list)
    archived: Sequence[tuple[str, str]] = ()
    recorded: Sequence[str] = ()

    async def embed(self, request: EmbedRequest) -> EmbedResponse:
        self.asked.append(request)
        return EmbedResponse(vectors=tuple(map(vector_of, request.texts)), model="test")

    async def facts(self, request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        self.asked.append(request)
        return RetrieveFactsResponse(facts=())

    async def archive(self, request: SearchArchiveRequest) -> SearchArchiveResponse:
        self.asked.append(request)
        return SearchArchiveResponse(hits=tuple(map(hit, self.archived)))

    async def episodes(self, request: RetrieveEpisodesRequest) -> RetrieveEpisodesResponse:
        self.asked.append(request)
        return RetrieveEpisodesResponse(episodes=())

    async def conversation(
        self, request: GetConversationMemoryRequest
    ) -> GetConversationMemoryResponse:
        self.asked.append(request)
        record = ConversationMemory(
            conversation_id=request.conversation_id,
            invocations=tuple(
                InvocationSummary(id=each, query="?", timestamp=SAID) for each in self.recorded
            ),
        )
        return GetConversationMemoryResponse(conversation=record)

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.asked if isinstance(message, kind)]


@asynccontextmanager
async def serving(services: Services) -> AsyncGenerator[TierReader]:
    bus = MemoryBus()
    routes = (
        call_route(EMBED, services.embed),
        call_route(RETRIEVE_FACTS, services.facts),
        call_route(SEARCH_ARCHIVE, services.archive),
        call_route(RETRIEVE_EPISODES, services.episodes),
        call_route(GET_CONVERSATION, services.conversation),
    )
    async with served(bus, *routes), open_caller(bus) as caller:
        yield TierReader(caller, AgentParameters(), Timings(), "r1")


async def retrieved(
    request: AgentRequest, services: Services | None = None
) -> tuple[Services, Memories]:
    services = services or Services()
    async with serving(services) as tiers:
        return services, await tiers.retrieve(request, "c1")


async def test_episodes_are_searched_by_the_question_with_the_state() -> None:
    request = AgentRequest(question="What next?", user="ann", state="packing for Oslo")
    services, memories = await retrieved(request)

    assert memories.left_out == {}
    (embedded,) = services.of(EmbedRequest)
    assert embedded.texts == ("What next?", "What next?\npacking for Oslo")
    (facts,) = services.of(RetrieveFactsRequest)
    (entries,) = services.of(SearchArchiveRequest)
    (episodes,) = services.of(RetrieveEpisodesRequest)
    assert facts.embedding == entries.embedding == vector_of("What next?")
    assert episodes.embedding == vector_of("What next?\npacking for Oslo")
    assert {facts.scope, entries.scope, episodes.scope} == {request.scope}


async def test_of_the_archive_comes_what_the_conversation_does_not_have_itself() -> None:
    found = [("c1", "r1"), ("c2", "r1"), ("c1", "r0"), ("c3", "r5"), ("c4", "r6")]
    services = Services(archived=found, recorded=["r1", "r2"])
    _, memories = await retrieved(AgentRequest(question="What?", user="ann"), services)

    assert [(each.entry.source, each.entry.invocation_id) for each in memories.entries] == [
        ("c2", "r1"),
        ("c1", "r0"),
        ("c3", "r5"),
        ("c4", "r6"),
    ]
    assert [each.entry.invocation_id for each in memories.in_conversation] == ["r1"]


async def test_without_a_state_the_question_is_embedded_once() -> None:
    services, _ = await retrieved(AgentRequest(question="What next?", user="ann"))

    (embedded,) = services.of(EmbedRequest)
    assert embedded.texts == ("What next?",)
    (episodes,) = services.of(RetrieveEpisodesRequest)
    assert episodes.embedding == vector_of("What next?")


async def test_a_long_question_is_searched_by_its_beginning() -> None:
    services, memories = await retrieved(AgentRequest(question="why " * 50_000, user="ann"))

    assert memories.left_out == {}
    assert len(services.of(RetrieveFactsRequest)[0].query) == 8_000
    assert len(services.of(EmbedRequest)[0].texts[0]) == 8_000


async def read_late(request: GetConversationMemoryRequest) -> GetConversationMemoryResponse:
    await asyncio.sleep(LATE)
    return GetConversationMemoryResponse(
        conversation=ConversationMemory(conversation_id=request.conversation_id, invocations=())
    )


@pytest.mark.parametrize(
    ("seconds", "left_out"),
    [(LATE + 10, {}), (LATE - 10, {"conversation": "no answer within 10 seconds"})],
)
@on_its_own_clock
async def test_a_tier_has_as_long_as_the_flow_says(seconds: int, left_out: dict[str, str]) -> None:
    parameters = AgentParameters(
        tier_seconds=seconds,
        fact_retrieval_top_k=0,
        archive_retrieval_top_k=0,
        episode_retrieval_top_k=0,
    )
    bus = MemoryBus()
    async with served(bus, call_route(GET_CONVERSATION, read_late)), open_caller(bus) as caller:
        tiers = TierReader(caller, parameters, Timings(), "r1")
        memories = await tiers.retrieve(AgentRequest(question="Who?", user="ann"), "c1")

    assert memories.left_out == left_out


async def research_late(_: ResearchRequest) -> AsyncIterator[ResearchProgress]:
    await asyncio.sleep(LATE)
    found = hit(("c2", "r1")).entry
    yield ResearchProgress(
        step="end", round=1, evidence=(Evidence(entry=found, score=1.0, round=1),)
    )


@pytest.mark.parametrize(
    ("mode", "seconds", "entries", "left_out"),
    [
        ("deep", LATE + 10, ["c2"], {}),
        ("deep", LATE - 10, [], {"archive": "no answer within 13 seconds"}),
        ("auto", LATE + 10, [], {"archive": "no answer within 3 seconds"}),
    ],
)
@on_its_own_clock
async def test_a_deep_research_has_time_of_its_own(
    mode: Any, seconds: int, entries: list[str], left_out: dict[str, str]
) -> None:
    parameters = AgentParameters(
        deep_research_seconds=seconds, fact_retrieval_top_k=0, episode_retrieval_top_k=0
    )
    services, bus = Services(), MemoryBus()
    routes = (
        call_route(EMBED, services.embed),
        call_route(GET_CONVERSATION, services.conversation),
        stream_route(RESEARCH, research_late),
    )
    async with served(bus, *routes), open_caller(bus) as caller:
        tiers = TierReader(caller, parameters, Timings(), "r1")
        request = AgentRequest(question="Who?", user="ann", research=mode)
        memories = await tiers.retrieve(request, "c1")

    assert [hit.entry.source for hit in memories.entries] == entries
    assert memories.left_out == left_out
