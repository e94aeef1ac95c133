"""What is too large is rejected before anything is done with it, or cut where a model wrote it."""

import time
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.errors import CallFailedError, FourtierError
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentStep
from fourtier.schema.embeddings import EMBED
from fourtier.schema.message import Scope
from tests.agents.react_mem.test_agent import agent
from tests.support.listening import listening
from tests.support.model import Calls, Says

ANN = Scope("ann", "default")
TWO_MEGABYTES = "I like tea. " * 170_000
STEP = AgentStep(thought="I looked")

TOO_LARGE = [
    ("question", TWO_MEGABYTES, "200000 characters"),
    ("state", "x" * 8_001, "8000 characters"),
    ("history", (STEP,) * 101, "100 items"),
    ("history.0.observation", (AgentStep.model_construct(observation="x" * 200_001),), "200000"),
    ("history.0.arguments", (AgentStep.model_construct(arguments={"x": "y" * 200_001}),), "200000"),
    ("group", ("tools",) * 101, "100 items"),
    ("group.0", ("x" * 513,), "512 characters"),
    ("conversation_id", "x" * 513, "512 characters"),
    ("request_id", "x" * 257, "256 characters"),
]


@pytest.mark.parametrize(
    ("field", "value", "limit"), TOO_LARGE, ids=[each[0] for each in TOO_LARGE]
)
async def test_a_request_beyond_a_limit_is_rejected_by_name(
    tmp_path: Path, field: str, value: Any, limit: str
) -> None:
    """From a client that does not check what it sends."""
    given = {"question": "Hello?", "user": "ann"} | {field.split(".", maxsplit=1)[0]: value}
    services = ("facts", "episodes", "conversations", "working-memory", "embeddings")
    async with agent(tmp_path, without=services) as (flow, _client, model):
        with pytest.raises(CallFailedError) as error:
            async for _ in flow.caller.stream(AGENT_REQUEST, AgentRequest.model_construct(**given)):
                pass
    assert error.value.type == "malformed"
    assert f"{field}: " in str(error.value)
    assert limit in str(error.value)
    assert len(str(error.value)) < 300
    assert model.requests == []


async def test_a_question_of_two_megabytes_is_rejected_in_the_client(tmp_path: Path) -> None:
    async with agent(tmp_path) as (_flow, client, model):
        with pytest.raises((ValueError, FourtierError), match="question") as error:
            await client.answer(TWO_MEGABYTES, user="ann")
    assert "200000" in str(error.value)
    assert model.requests == []


async def test_of_a_question_of_two_megabytes_nothing_is_embedded_or_stored(
    tmp_path: Path,
) -> None:
    request = AgentRequest.model_construct(
        question=TWO_MEGABYTES, user="ann", enable_memory=True, conversation_id="c1"
    )
    async with (
        agent(tmp_path, Says("Hello.")) as (flow, client, _model),
        listening(flow.bus, EMBED.topic) as embedded,
    ):
        flow.bus.local = None  # as if embeddings were elsewhere: on the bus they can be seen
        began = time.monotonic()
        with pytest.raises(CallFailedError, match=r"question: .*200000"):
            async for _ in flow.caller.stream(AGENT_REQUEST, request):
                pass
        print(f"rejected in {time.monotonic() - began:.3f} s")  # noqa: T201 - for who measures
        reply = await client.answer("Hello?", user="ann", conversation_id="c2")
        first = await embedded.next()
        record = await client.conversations.get(ANN, "c1")
        facts = await client.facts.list(ANN)

    assert reply.answer == "Hello."
    assert first.texts == ("Hello?",)
    assert record.invocations == ()
    assert not facts.facts


async def test_arguments_that_are_too_long_run_no_tool(tmp_path: Path) -> None:
    script = (Calls("calculator", {"expression": "1+" * 20_000 + "1"}), Says("I cannot."))
    async with agent(tmp_path, *script) as (_flow, client, model):
        reply = await client.answer("Add all", user="ann")

    assert reply.answer == "I cannot."
    assert reply.metadata.tiers_left_out == {}
    (step,) = reply.metadata.steps
    assert step.observation.startswith(
        "The arguments must be a JSON object of at most 24000 characters, not: "
    )
    assert len(step.observation) < 1_200
    assert len(model.requests[1].text) < 10_000


async def test_a_long_thought_is_cut_in_the_trace(tmp_path: Path) -> None:
    script = (Calls("clock", thought="hmm " * 10_000), Says("Noon."))
    parameters = {"observation-characters": 500}
    async with agent(tmp_path, *script, **parameters) as (_flow, client, _model):
        reply = await client.answer("What time is it?", user="ann")

    assert reply.answer == "Noon."
    assert reply.metadata.tiers_left_out == {}
    assert [len(step.thought) for step in reply.metadata.steps] == [500]
