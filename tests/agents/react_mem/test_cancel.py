"""A client that leaves a run: the work behind it ends, and nothing is left half done."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from fourtier.client import Client
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AGENT_REQUEST, INVOCATION_ENDED, AgentRequest, AgentResponse
from fourtier.schema.working_memory import (
    GET_WORKING_MEMORY,
    GetWorkingMemoryRequest,
    GetWorkingMemoryResponse,
)
from fourtier.tools import tool
from tests.agents.react_mem.test_agent import agent, offer
from tests.support.flow import RunningFlow
from tests.support.listening import listening
from tests.support.model import Calls, Says
from tests.support.waiting import wait_until

pytestmark = pytest.mark.processes


def request(**more: object) -> AgentRequest:
    given = {"question": "Tell me a story", "user": "ann", "enable_memory": True} | more
    return AgentRequest.model_validate({"request_id": "r1", "streaming": True} | given)


async def last_of(flow: RunningFlow, asked: AgentRequest) -> AgentResponse:
    return [reply async for reply in flow.caller.stream(AGENT_REQUEST, asked)][-1]


async def leave_when(
    flow: RunningFlow, asked: AgentRequest, condition: Callable[[], bool | Awaitable[bool]]
) -> None:
    """Ask, and close the stream as soon as the condition holds."""

    async with aclosing(flow.caller.stream(AGENT_REQUEST, asked)) as replies:
        reading = asyncio.create_task(anext(replies))
        try:
            await wait_until(condition)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def working_memory(caller: Caller) -> GetWorkingMemoryResponse:
    return await caller.call(
        GET_WORKING_MEMORY, GetWorkingMemoryRequest(user="ann", run_id="r1", full=True)
    )


async def test_leaving_a_streaming_run_closes_the_request_to_the_model(tmp_path: Path) -> None:
    never = asyncio.Event()
    script = Says("Once upon a time", reasoning="A fairy tale", between=never)
    async with agent(tmp_path, script) as (flow, _, model):
        async with aclosing(flow.caller.stream(AGENT_REQUEST, request())) as replies:
            assert (await anext(replies)).content
        await wait_until(lambda: model.dropped == 1)


async def test_leaving_before_the_first_piece_closes_the_request_too(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with agent(tmp_path, Says("Once", before=never)) as (flow, _, model):
        await leave_when(flow, request(streaming=False), lambda: len(model.requests) == 1)
        await wait_until(lambda: model.dropped == 1)


async def test_leaving_the_clients_answer_closes_the_request_on_a_real_broker(
    tmp_path: Path,
) -> None:
    never = asyncio.Event()
    script = (Says("Once upon a time", between=never),)
    async with agent(tmp_path, *script, bus="embedded") as (_, client, model):
        asking = asyncio.create_task(client.answer("Tell me a story", user="ann"))
        await wait_until(lambda: len(model.requests) == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await wait_until(lambda: model.dropped == 1)


async def test_a_cancelled_run_is_not_published_and_can_be_run_again(tmp_path: Path) -> None:
    never = asyncio.Event()
    script = (Says("Once upon", reasoning="A fairy tale", between=never), Says("The end."))
    async with (
        agent(tmp_path, *script) as (flow, _, model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
    ):
        async with aclosing(flow.caller.stream(AGENT_REQUEST, request())) as replies:
            await anext(replies)
        await wait_until(lambda: model.dropped == 1)
        assert (await working_memory(flow.caller)).answer is None

        assert (await last_of(flow, request(streaming=False))).content == "The end."
        assert (await ended.next()).answer == "The end."
    assert len(ended.received) == 1


@pytest.mark.parametrize("idempotent", [True, False])
async def test_a_run_cancelled_in_a_tool_is_continued_by_the_same_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, idempotent: bool
) -> None:
    began: list[str] = []
    gate = asyncio.Event()

    @tool(idempotent=idempotent)
    async def charge() -> str:
        """Charge the card."""
        began.append("began")
        await gate.wait()
        return "charged the card"

    offer(monkeypatch, charge)
    async with agent(tmp_path, Calls("charge"), Says("See above.")) as (flow, _, model):
        await leave_when(flow, request(streaming=False), lambda: began == ["began"])

        async def recorded() -> bool:
            found = await working_memory(flow.caller)
            return [item.type for item in found.trace.items] == ["action"]

        await wait_until(recorded)
        gate.set()
        assert (await last_of(flow, request(streaming=False))).content == "See above."

    assert began == (["began"] * 2 if idempotent else ["began"])
    observation = model.requests[-1].text
    assert ("charged the card" in observation) is idempotent
    assert ("unknown; it was not run again" in observation) is not idempotent


async def test_a_run_whose_answer_is_complete_is_published_although_it_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Persisted and not published, it would be an answer that memory never learns of."""
    persisted, gate = asyncio.Event(), asyncio.Event()
    publish = Caller.publish

    async def slow(self: Caller, topic, message, **more) -> None:
        if topic is INVOCATION_ENDED:
            persisted.set()
            await gate.wait()
        await publish(self, topic, message, **more)

    monkeypatch.setattr(Caller, "publish", slow)
    async with (
        agent(tmp_path, Says("The end.")) as (flow, _, _model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
    ):
        await leave_when(flow, request(streaming=False), persisted.is_set)
        gate.set()
        assert (await ended.next()).answer == "The end."
        assert (await working_memory(flow.caller)).answer == "The end."


async def test_a_client_that_reads_to_the_end_cancels_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []
    monkeypatch.setattr(
        Caller, "_cancel", lambda _self, topic, _message_id: cancelled.append(topic.name)
    )
    async with agent(tmp_path, Calls("clock"), Says("Noon.")) as (_, client, _model):
        assert isinstance(client, Client)
        assert (await client.answer("What time is it?", user="ann")).answer == "Noon."
    assert cancelled == []
