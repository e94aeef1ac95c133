"""What a run asks the memory services, and how long it waits for their answers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.tiers import Memories, TierReader
from fourtier.agents.react_mem.timings import Timings
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.agent import AgentRequest
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    ConversationMemory,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
)
from fourtier.schema.embeddings import EMBED, EmbedRequest, EmbedResponse
from fourtier.schema.episodes import (
    RETRIEVE_EPISODES,
    RetrieveEpisodesRequest,
    RetrieveEpisodesResponse,
)
from fourtier.schema.facts import RETRIEVE_FACTS, RetrieveFactsRequest, RetrieveFactsResponse
from fourtier.schema.message import Message, Vector
from tests.runtime.rpc.support import served
from tests.support.clock import on_its_own_clock

LATE = 20


def vector_of(text: str) -> Vector:
    return Vector.of([float(len(text)), 1.0])


@dataclass
class Services:
    """Stand in for the memory services; `asked` is what they were asked, in order."""

    asked: list[Message] = field(default_factory=list)

    async def embed(self, request: EmbedRequest) -> EmbedResponse:
        self.asked.append(request)
        return EmbedResponse(vectors=tuple(map(vector_of, request.texts)), model="test")

    async def facts(self, request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        self.asked.append(request)
        return RetrieveFactsResponse(facts=())

    async def episodes(self, request: RetrieveEpisodesRequest) -> RetrieveEpisodesResponse:
        self.asked.append(request)
        return RetrieveEpisodesResponse(episodes=())

    async def conversation(
        self, request: GetConversationMemoryRequest
    ) -> GetConversationMemoryResponse:
        self.asked.append(request)
        record = ConversationMemory(conversation_id=request.conversation_id, invocations=())
        return GetConversationMemoryResponse(conversation=record)

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.asked if isinstance(message, kind)]


@asynccontextmanager
async def serving(services: Services) -> AsyncGenerator[TierReader]:
    bus = MemoryBus()
    routes = (
        call_route(EMBED, services.embed),
        call_route(RETRIEVE_FACTS, services.facts),
        call_route(RETRIEVE_EPISODES, services.episodes),
        call_route(GET_CONVERSATION, services.conversation),
    )
    async with served(bus, *routes), open_caller(bus) as caller:
        yield TierReader(caller, AgentParameters(), Timings())


async def retrieved(request: AgentRequest) -> tuple[Services, Memories]:
    services = Services()
    async with serving(services) as tiers:
        return services, await tiers.retrieve(request, "c1")


async def test_episodes_are_searched_by_the_question_with_the_state() -> None:
    request = AgentRequest(question="What next?", user="ann", state="packing for Oslo")
    services, memories = await retrieved(request)

    assert memories.left_out == {}
    (embedded,) = services.of(EmbedRequest)
    assert embedded.texts == ("What next?", "What next?\npacking for Oslo")
    (facts,) = services.of(RetrieveFactsRequest)
    (episodes,) = services.of(RetrieveEpisodesRequest)
    assert facts.embedding == vector_of("What next?")
    assert episodes.embedding == vector_of("What next?\npacking for Oslo")
    assert {facts.scope, episodes.scope} == {request.scope}


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
        tier_seconds=seconds, fact_retrieval_top_k=0, episode_retrieval_top_k=0
    )
    bus = MemoryBus()
    async with served(bus, call_route(GET_CONVERSATION, read_late)), open_caller(bus) as caller:
        tiers = TierReader(caller, parameters, Timings())
        memories = await tiers.retrieve(AgentRequest(question="Who?", user="ann"), "c1")

    assert memories.left_out == left_out
