"""A request that comes again after its run has failed: nothing that was done is done twice."""

import asyncio
from pathlib import Path

import pytest

from fourtier.agent.tools import tool
from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.host import run_services
from fourtier.runtime.settings import Settings
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse
from tests.agent.test_agent import agent, offer
from tests.support.model import Calls, Fails, Says
from tests.support.waiting import wait_until


async def test_a_failed_run_that_comes_again_goes_on_behind_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged: list[str] = []

    @tool(idempotent=False)
    def charge() -> str:
        """Charge the card."""
        charged.append("charged")
        return "charged the card"

    offer(monkeypatch, charge)
    script = (Calls("charge", {}), Fails(401), Says("It is charged."))
    async with agent(tmp_path, *script) as (flow, _client, model):
        request = AgentRequest(question="Pay", user="ann", enable_memory=True, request_id="r1")
        last = [
            [reply async for reply in flow.caller.stream(AGENT_REQUEST, request)][-1]
            for _ in range(2)
        ]

    assert last[0].error
    assert last[1].content == "It is charged."
    assert "charged the card" in model.requests[2].text
    assert charged == ["charged"]


async def test_an_answer_that_could_not_be_kept_at_first_is_given_again(tmp_path: Path) -> None:
    """As after an outage of the bus: when memory can be told, the answer can be kept too."""
    gate = asyncio.Event()
    script = (Says("The first answer.", before=gate), Says("Another answer."))
    working_memory = Flow(name="late", namespace="test", services={"working-memory": {}})
    async with agent(tmp_path, *script, without=("working-memory",), **{"tier-seconds": 0.3}) as (
        flow,
        _client,
        model,
    ):
        request = AgentRequest(question="Who?", user="ann", enable_memory=True, request_id="r1")

        async def last() -> AgentResponse:
            return [reply async for reply in flow.caller.stream(AGENT_REQUEST, request)][-1]

        first = asyncio.create_task(last())
        await wait_until(lambda: bool(model.requests))  # what was done before was asked for in vain
        plan = host_plan(working_memory, Settings(data=tmp_path))
        async with run_services(flow.bus, plan):
            gate.set()
            assert (await first).content == "The first answer."
            assert (await last()).content == "The first answer."
    metadata = (await first).metadata
    assert metadata is not None
    assert set(metadata.tiers_left_out) == {"working-memory"}
