"""How long a run waits for what is remembered: as long as the flow says, and no longer."""

import asyncio

import pytest

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.tiers import TierReader
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
from tests.runtime.rpc.support import served
from tests.support.clock import on_its_own_clock

LATE = 20


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
