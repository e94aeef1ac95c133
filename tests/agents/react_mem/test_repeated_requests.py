"""A repeated request after its run has failed: nothing that was done is done twice."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.process.host import run_services
from fourtier.runtime.rpc import envelope
from fourtier.runtime.settings import Settings
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    WorkingMemoryItem,
)
from fourtier.tools import tool
from tests.agents.react_mem.test_agent import agent, offer
from tests.support.environment import short_deadline
from tests.support.model import Calls, Fails, Says
from tests.support.waiting import wait_until


async def test_a_repeated_request_continues_a_failed_run_after_its_tools(
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


async def test_an_answer_that_could_not_be_persisted_at_first_is_given_again(
    tmp_path: Path,
) -> None:
    """As after an outage of the bus: the replica has it until working memory can take it."""
    gate = asyncio.Event()
    script = (Says("The first answer.", before=gate), Says("Another answer."))
    working_memory = Flow(name="late", namespace="test", services={"working-memory": {}})
    # Without any memory service, since on a busy machine others might be late too.
    memory = ("facts", "episodes", "conversations", "working-memory")
    async with agent(tmp_path, *script, without=memory, **{"tier-seconds": 0.3}) as (
        flow,
        _client,
        model,
    ):

        async def last(user: str = "ann") -> AgentResponse:
            request = AgentRequest(question="Who?", user=user, request_id="r1", enable_memory=True)
            return [reply async for reply in flow.caller.stream(AGENT_REQUEST, request)][-1]

        first = asyncio.create_task(last())
        await wait_until(lambda: bool(model.requests))  # what was done before was asked for in vain
        gate.set()
        assert (await first).content == "The first answer."
        assert (await last()).content == "The first answer."
        assert (await last("bob")).content == "Another answer."

        async with run_services(flow.bus, host_plan(working_memory, Settings(data=tmp_path))):
            question = GetWorkingMemoryRequest(run_id="r1", user="ann")

            async def persisted() -> bool:
                found = await flow.caller.call(GET_WORKING_MEMORY, question)
                return found.answer == "The first answer."

            await wait_until(persisted)
    metadata = (await first).metadata
    assert metadata is not None
    assert set(metadata.tiers_left_out) == {"facts", "episodes", "conversation", "working-memory"}


async def test_a_repeated_request_waits_for_what_its_run_has_done(tmp_path: Path) -> None:
    """A run that began anew while working memory is unavailable could end with another answer."""
    ended = AppendWorkingMemoryRequest(
        run_id="r1",
        user="ann",
        items=(
            WorkingMemoryItem(
                id="r1/0/answer",
                step=0,
                type="answer",
                content="The first answer.",
                timestamp=datetime.now(UTC),
            ),
        ),
    )
    plan = host_plan(
        Flow(name="late", namespace="test", services={"working-memory": {}}),
        Settings(data=tmp_path),
    )
    with short_deadline(GET_WORKING_MEMORY, 1.0):
        async with agent(
            tmp_path, Says("Another answer."), without=("working-memory",), **{"tier-seconds": 0.3}
        ) as (flow, _client, model):
            async with run_services(flow.bus, plan):
                await flow.caller.call(APPEND_WORKING_MEMORY, ended)
            request = AgentRequest(question="Who?", user="ann", request_id="r1", enable_memory=True)
            inbox = Address("inbox.test", persistent=False)
            async with flow.bus.subscribe(inbox, "test", Mode.EXCLUSIVE) as answers:
                await flow.bus.publish(
                    Address(AGENT_REQUEST.topic.name, persistent=True),
                    request.model_dump_json().encode(),
                    properties={
                        "id": "r1",
                        "reply-to": inbox.name,
                        envelope.RETRY: "true",
                        envelope.HEARTBEAT: "true",
                    },
                )
                assert (await answers.receive()).properties[
                    envelope.HEARTBEAT
                ]  # more than the 0.3 s have passed
                async with run_services(flow.bus, plan):
                    while (reply := await answers.receive()).properties.get("last") != "true":
                        pass
            assert AgentResponse.model_validate_json(reply.payload).content == "The first answer."
            assert model.requests == []
