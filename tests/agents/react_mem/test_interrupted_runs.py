"""What must hold when a run is interrupted or cannot record what it does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.schema.agent import AGENT_REQUEST, INVOCATION_ENDED, AgentRequest, AgentResponse
from fourtier.schema.facts import STORE_FACT
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    WorkingMemoryItem,
)
from fourtier.tools import tool
from tests.agents.react_mem.test_agent import agent, offer
from tests.support.flow import RunningFlow
from tests.support.listening import listening
from tests.support.model import Calls, Says


def request(run_id: str = "r1") -> AgentRequest:
    return AgentRequest(question="Pay the bill", user="ann", enable_memory=True, request_id=run_id)


async def replies_to(flow: RunningFlow, asked: AgentRequest) -> list[AgentResponse]:
    return [reply async for reply in flow.caller.stream(AGENT_REQUEST, asked)]


@pytest.mark.parametrize("idempotent", [True, False])
async def test_without_working_memory_a_tool_that_must_not_run_twice_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, idempotent: bool
) -> None:
    charged: list[str] = []

    @tool(idempotent=idempotent)
    def charge() -> str:
        """Charge the card."""
        charged.append("charged")
        return "charged the card"

    offer(monkeypatch, charge)
    without = ("working-memory", "facts", "episodes", "conversations")
    async with agent(
        tmp_path, Calls("charge"), Says("Done."), without=without, **{"tier-seconds": 0.3}
    ) as (flow, _client, model):
        got = await replies_to(flow, request())

    observation = next(reply.content for reply in got if reply.message_type == "observation")
    assert charged == (["charged"] if idempotent else [])
    assert ("was not run: its start cannot be recorded" in observation) is not idempotent
    assert observation in model.requests[1].text
    assert got[-1].content == "Done."
    assert got[-1].metadata is not None
    assert [step.status for step in got[-1].metadata.steps] == ["ok" if idempotent else "not-run"]


async def test_a_run_that_was_killed_after_its_answer_reaches_memory(tmp_path: Path) -> None:
    """The answer is in working memory; its event and its last reply were never sent."""
    asked_at, answered_at = (datetime(2026, 3, 1, 9, minute, tzinfo=UTC) for minute in (0, 2))
    step = {
        "step": 0,
        "timestamp": answered_at,
        "metadata": {"asked_at": asked_at.isoformat()},
    }
    items = (
        WorkingMemoryItem.model_validate(
            step
            | {
                "id": "r1/0/action",
                "type": "action",
                "content": "clock({})",
                "metadata": {"tool": "clock", "arguments": {}, "asked_at": asked_at.isoformat()},
            }
        ),
        WorkingMemoryItem.model_validate(
            step | {"id": "r1/0/observation", "type": "observation", "content": "noon"}
        ),
        WorkingMemoryItem.model_validate(
            step | {"id": "r1/1/answer", "step": 1, "type": "answer", "content": "It is noon."}
        ),
    )
    async with (
        agent(tmp_path) as (flow, _client, model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
    ):
        await flow.caller.call(
            APPEND_WORKING_MEMORY,
            AppendWorkingMemoryRequest(user="ann", run_id="r1", items=items),
        )
        got = await replies_to(flow, request())
        event = await ended.next()

    assert got[-1].content == "It is noon."
    assert model.requests == []
    assert ended.ids == ["r1/ended"]
    assert (event.run_id, event.question, event.answer) == ("r1", "Pay the bill", "It is noon.")
    assert (event.started_at, event.ended_at) == (asked_at, answered_at)
    assert event.succeeded
    (published,) = event.steps
    assert (published.action, published.observation) == ("clock", "noon")
    assert published.status == "unknown"  # recorded by a version that did not say it


async def test_a_very_long_message_id_makes_a_run_like_any_other(tmp_path: Path) -> None:
    asked = request().model_copy(update={"request_id": ""})
    async with agent(tmp_path, Calls("clock"), Says("Noon.")) as (flow, _client, _model):
        stream = flow.caller.stream(AGENT_REQUEST, asked, message_id="m" * 500)
        got = [reply async for reply in stream]
    assert got[-1].content == "Noon."
    assert got[-1].metadata is not None
    assert len(got[-1].metadata.run_id) == 64
    assert got[-1].metadata.tiers_left_out == {}


async def test_what_is_learned_in_a_run_was_said_when_the_question_was_sent(
    tmp_path: Path,
) -> None:
    """The question waited for minutes, as after an outage or a redelivery."""
    sent_at = datetime(2026, 3, 1, 9, 0, 0, 7, tzinfo=UTC)
    facts = [Calls("store_fact", {"fact_content": f"Ann lives in {town}."}) for town in TOWNS]
    async with (
        agent(tmp_path, *facts, Says("Noted.")) as (flow, _client, _model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
        listening(flow.bus, STORE_FACT.topic) as stored,
    ):
        await flow.bus.publish(
            Address(AGENT_REQUEST.topic.name),
            request().model_dump_json().encode(),
            key="k",
            properties={"id": "q", "sent-at": str(int(sent_at.timestamp()) * 1_000_000 + 7)},
        )
        event = await ended.next()
        first, second = await stored.take(2)

    assert event.started_at == sent_at
    assert [first.content, second.content] == [f"Ann lives in {town}." for town in TOWNS]
    assert first.timestamp == sent_at
    assert second.timestamp == sent_at + timedelta(microseconds=1)


TOWNS = ("Oslo", "Bergen")
