"""What a run may do with memory: read and learn, only read, or nothing; the narrower counts."""

from pathlib import Path

import pytest

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.schema.agent import INVOCATION_ENDED, AgentRequest, MemoryMode
from fourtier.schema.message import Scope
from tests.agents.react_mem.test_agent import agent
from tests.support.listening import listening
from tests.support.model import Calls, Says

ANN = Scope("ann", "default")
BUDGET = "My Hawaii budget is 12,000 dollars"


@pytest.mark.parametrize(
    ("flow", "asked", "enabled", "mode"),
    [
        ("read-write", "read-write", True, "read-write"),
        ("read-write", "read-only", True, "read-only"),
        ("read-write", "off", True, "off"),
        ("read-only", "read-write", True, "read-only"),
        ("read-only", "off", True, "off"),
        ("off", "read-write", True, "off"),
        ("read-write", "read-write", False, "off"),
        ("read-only", "read-only", False, "off"),
    ],
)
def test_a_request_narrows_what_the_flow_allows(
    flow: MemoryMode, asked: MemoryMode, mode: MemoryMode, *, enabled: bool
) -> None:
    request = AgentRequest(question="?", user="ann", memory=asked, enable_memory=enabled)
    assert AgentParameters(memory=flow).memory_mode(request) == mode


@pytest.mark.parametrize("by_flow", [True, False])
async def test_read_only_memory_is_read_and_nothing_is_written(
    tmp_path: Path, *, by_flow: bool
) -> None:
    mode: MemoryMode = "read-only"
    parameters = {"memory": mode} if by_flow else {}
    script = (Calls("store_fact", {"fact_content": "Ann lives in Oslo."}), Says("12,000."))
    async with (
        agent(tmp_path, *script, Says("Noted."), **parameters) as (flow, client, model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
    ):
        await client.facts.store(ANN, BUDGET, speaker="ann")
        reply = await client.answer(
            "What is my budget?",
            user="ann",
            conversation_id="c1",
            memory="read-write" if by_flow else mode,
        )
        facts = await client.facts.list(ANN)
        if not by_flow:  # an event of the run would have come before that of another one
            await client.answer("I like tea.", user="ann", conversation_id="c2")
            assert (await ended.next()).conversation_id == "c2"
        record = await client.conversations.get(ANN, "c1")

    assert reply.answer == "12,000."
    assert BUDGET in model.requests[0].text
    assert {"retrieve_facts", "recall_episodes"} <= set(model.requests[0].tools)
    assert "store_fact" not in model.requests[0].tools
    assert "There is no tool 'store_fact'" in model.requests[1].text
    assert [fact.content for fact in facts.facts] == [BUDGET]
    assert record.invocations == ()


async def test_off_is_a_run_without_memory(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("I do not know."), memory="off") as (_flow, client, model):
        await client.facts.store(ANN, BUDGET, speaker="ann")
        reply = await client.answer("What is my budget?", user="ann", conversation_id="c1")
        record = await client.conversations.get(ANN, "c1")

    assert "12,000" not in model.requests[0].text
    assert not {"retrieve_facts", "recall_episodes", "store_fact"} & set(model.requests[0].tools)
    assert reply.metadata.memories == ()
    assert record.invocations == ()


async def test_each_memory_tool_is_switched_by_its_name(tmp_path: Path) -> None:
    tools = {"memory-tools": ["retrieve_facts"]}
    async with agent(tmp_path, Says("Hello."), **tools) as (_flow, client, model):
        await client.answer("Hello?", user="ann")
    assert "retrieve_facts" in model.requests[0].tools
    assert not {"recall_episodes", "store_fact"} & set(model.requests[0].tools)


async def test_the_flows_own_prompts_reach_the_model(tmp_path: Path) -> None:
    file = tmp_path / "finish.md"
    file.write_text("Say it now.")
    prompts = {"system": "You sell bicycles.", "finish": {"file": str(file)}}
    parameters = {"prompts": prompts, "max-iterations": 1}
    async with agent(tmp_path / "data", Says("Hi."), **parameters) as (_flow, client, model):
        await client.answer("Hello?", user="ann")
    assert model.requests[0].messages[0]["content"].startswith("You sell bicycles.\n\n")
    assert "Say it now." in model.requests[0].text
    assert "helpful assistant" not in model.requests[0].text


async def test_older_steps_are_condensed_from_a_share_of_the_window_on(tmp_path: Path) -> None:
    steps = [Calls("clock", thought="I look again. " * 20) for _ in range(4)]
    parameters = {"working-memory-threshold": 0.05, "context-tokens": 3_000}
    async with agent(tmp_path, *steps, Says("Noon."), **parameters) as (_flow, client, model):
        await client.answer("What time is it?", user="ann")
    assert '<data from="steps">' not in model.requests[1].text
    assert '<data from="steps">' in model.requests[4].text
