"""The agent end to end: real services on a bus, a model that says what the script says."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse, AgentStep
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    WorkingMemoryItem,
)
from fourtier.tools import installed, tool
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import Calls, Fails, Says, ScriptedModel, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
LONG = " ".join(f"word{number}" for number in range(200))
ALL = {
    "embeddings": {},
    "completion": {"attempts": 1},
    "facts": {},
    "episodes": {},
    "conversations": {},
    "working-memory": {},
    "agent": {},
}


@asynccontextmanager
async def agent(
    data: Path,
    *script: Any,
    without: tuple[str, ...] = (),
    archive: bool = False,
    facts: Mapping[str, Any] = MappingProxyType({}),
    bus: str = "memory://",
    **parameters: Any,
) -> AsyncGenerator[tuple[RunningFlow, Client, ScriptedModel]]:
    every = ALL | {"facts": dict(facts)}
    services = {name: values for name, values in every.items() if name not in without}
    services |= {"agent": parameters} | ({"archive": {}} if archive else {})
    async with (
        scripted_model(*script) as model,
        running_flow(data, services, bus=bus, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        yield flow, client, model


async def replies(client: Client, question: str, **more: Any) -> list[AgentResponse]:
    return [reply async for reply in client.ask(question, user="ann", **more)]


async def test_what_is_remembered_stands_in_the_prompt_and_is_named_in_the_reply(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path, Says("12,000 dollars.")) as (_, client, model):
        stored = await client.facts.store(ANN, "My Hawaii budget is 12,000 dollars", speaker="ann")

        reply = await client.answer("What was my budget for the trip?", user="ann")

    assert reply.answer == "12,000 dollars."
    assert "My Hawaii budget is 12,000 dollars" in model.requests[0].text
    assert [(used.tier, used.id) for used in reply.metadata.memories] == [("facts", stored.fact_id)]
    assert reply.in_token > 0
    assert reply.model
    assert set(reply.metadata.timings_ms) >= {"embed", "facts", "episodes", "conversation", "total"}
    assert reply.metadata.tiers_left_out == {}


async def test_what_was_said_elsewhere_is_remembered_word_for_word(tmp_path: Path) -> None:
    script = [Says("Noted."), Says("Noted."), Says("Behind the barn.")]
    question = "Where is the violoncello?"
    async with agent(tmp_path, *script, archive=True) as (_, client, model):
        said = "Do you know that the violoncello is behind the barn?"
        await client.answer(said, user="ann", conversation_id="c1")
        await client.answer("The violoncello is blue, no?", user="ann", conversation_id="c2")

        async def archived() -> bool:
            return len((await client.archive.search(ANN, question, top_k=9)).hits) == 4

        await wait_until(archived)
        reply = await client.answer(question, user="ann", conversation_id="c2")

    used = [each for each in reply.metadata.memories if each.tier == "archive"]
    assert used[0].content == said
    assert '<data from="archive">' in model.requests[2].text
    assert said in model.requests[2].text
    # What the conversation has stands there once.
    assert model.requests[2].text.count("The violoncello is blue") == 1
    assert reply.metadata.tiers_left_out == {}


async def test_another_users_question_sees_nothing_of_it(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("I do not know.")) as (_, client, model):
        await client.facts.store(ANN, "My Hawaii budget is 12,000 dollars", speaker="ann")
        reply = await client.answer("What was my budget for the trip?", user="bob")

    assert "12,000" not in model.requests[0].text
    assert reply.metadata.memories == ()


async def test_tools_are_used_until_there_is_an_answer(tmp_path: Path) -> None:
    script = [
        Calls("calculator", {"expression": "6*7"}, thought="I must multiply"),
        Says("It is 42."),
    ]
    async with agent(tmp_path, *script) as (_, client, model):
        got = await replies(client, "What is 6 times 7?", streaming=False)

    kinds = [(reply.message_type, reply.content) for reply in got]
    assert ("action", 'calculator({"expression": "6*7"})') in kinds
    assert ("observation", "42") in kinds
    assert kinds[-1] == ("answer", "It is 42.")
    assert [reply.end_of_dialog for reply in got].count(True) == 1
    assert got[-1].end_of_dialog
    assert "42" in model.requests[1].text
    step = got[-1].metadata.steps[0] if got[-1].metadata else AgentStep()
    assert (step.action, step.observation) == ("calculator", "42")


async def test_streaming_gives_the_answer_in_pieces(tmp_path: Path) -> None:
    async with agent(tmp_path, Says(LONG)) as (_, client, _model):
        got = await replies(client, "Count", streaming=True)

    pieces = [reply for reply in got if reply.message_type == "answer"]
    assert len(pieces) > 2
    assert "".join(reply.content for reply in pieces) == LONG
    assert len({reply.message_id for reply in pieces}) == 1
    assert [reply.end_of_message for reply in pieces].count(True) == 1


async def test_the_last_step_has_no_tools_and_must_answer(tmp_path: Path) -> None:
    script = [Calls("clock", {}), Calls("clock", {}), Says("That is all I found.")]
    async with agent(tmp_path, *script, **{"max-iterations": 3}) as (_, client, model):
        reply = await client.answer("What time is it?", user="ann")

    assert reply.answer == "That is all I found."
    assert model.requests[0].tools
    assert not model.requests[2].tools
    assert "no steps left" in model.requests[2].text


async def test_an_unavailable_tier_is_left_out_and_named(tmp_path: Path) -> None:
    down = {"episodes", "working-memory"}
    async with agent(tmp_path, without=tuple(down), **{"tier-seconds": 0.3}) as (_, client, model):

        async def only_these() -> bool:
            """Asked again where a busy machine was too late with another one too."""
            model.then(Says("Hello."))
            reply = await client.answer("Hello?", user="ann")
            assert reply.answer == "Hello."
            assert down <= set(reply.metadata.tiers_left_out)
            return down == set(reply.metadata.tiers_left_out)

        await wait_until(only_these)


async def test_without_memory_it_is_a_plain_agent(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("I do not know.")) as (_, client, model):
        await client.facts.store(ANN, "My budget is 12,000 dollars", speaker="ann")
        reply = await client.answer(
            "What was my budget?", user="ann", conversation_id="c1", enable_memory=False
        )
        record = await client.conversations.get(ANN, "c1")

    assert "12,000" not in model.requests[0].text
    assert reply.metadata.memories == ()
    assert "store_fact" not in model.requests[0].tools
    assert record.invocations == ()


async def test_the_conversation_is_continued(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("Nice."), Says("Oslo.")) as (_, client, model):
        await client.answer("I live in Oslo", user="ann", conversation_id="c1")

        async def recorded() -> bool:
            return len((await client.conversations.get(ANN, "c1")).invocations) == 1

        await wait_until(recorded)
        reply = await client.answer("Where do I live?", user="ann", conversation_id="c1")

    assert "I live in Oslo" in model.requests[1].text
    assert [used.tier for used in reply.metadata.memories] == ["conversation"]


async def test_history_state_and_group_are_honoured(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("Done.")) as (_, client, model):
        await replies(
            client,
            "Go on",
            history=(AgentStep(thought="I looked in the attic", observation="a trunk"),),
            state="searching the house",
            group=("memory",),
        )

    assert "I looked in the attic" in model.requests[0].text
    assert "searching the house" in model.requests[0].text
    assert set(model.requests[0].tools) == {
        "retrieve_facts",
        "recall_episodes",
        "research_memory",
        "store_fact",
        "forget",
    }


async def test_a_model_that_rejects_the_request_ends_the_run_with_its_reason(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path, Fails(401)) as (_, client, _model):
        reply = await client.answer("Hello?", user="ann", conversation_id="c1")

        async def recorded() -> bool:
            return len((await client.conversations.get(ANN, "c1")).invocations) == 1

        await wait_until(recorded)

    assert reply.error
    assert "401" in reply.reason
    assert reply.answer == ""


@pytest.mark.cluster
async def test_a_repeated_request_is_answered_and_not_run_again(tmp_path: Path) -> None:
    async with agent(tmp_path, Says("Once.")) as (flow, _client, model):
        request = AgentRequest(question="Hello?", user="ann", enable_memory=True, request_id="r1")
        answers = [
            [reply.content async for reply in flow.caller.stream(AGENT_REQUEST, request)][-1]
            for _ in range(2)
        ]

    assert answers == ["Once.", "Once."]
    assert len(model.requests) == 1


def offer(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]) -> None:
    class Offered:
        name = function.__name__
        value = "tests"

        def load(self) -> Callable[..., Any]:
            return function

    def entry_points(*, group: str) -> list[Any]:
        assert group == "fourtier.tools"
        return [Offered()]

    monkeypatch.setattr(installed, "entry_points", entry_points)


async def interrupted_in(flow: RunningFlow, tool_name: str) -> None:
    """Leave a run as a crash in the middle of a tool leaves it."""
    await flow.caller.call(
        APPEND_WORKING_MEMORY,
        AppendWorkingMemoryRequest(
            user="ann",
            run_id="r1",
            items=(
                WorkingMemoryItem(
                    id="r1/0/action",
                    step=0,
                    type="action",
                    content=f"{tool_name}({{}})",
                    timestamp=datetime.now(UTC),
                    metadata={"tool": tool_name, "arguments": {}},
                ),
            ),
        ),
    )


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.cluster
async def test_an_interrupted_run_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, idempotent: bool
) -> None:
    charged: list[str] = []

    @tool(idempotent=idempotent)
    def charge() -> str:
        """Charge the card."""
        charged.append("charged")
        return "charged the card"

    offer(monkeypatch, charge)
    async with agent(tmp_path, Says("See above.")) as (flow, _client, model):
        await interrupted_in(flow, "charge")
        request = AgentRequest(question="Pay", user="ann", enable_memory=True, request_id="r1")
        got = [reply async for reply in flow.caller.stream(AGENT_REQUEST, request)]

    observation = next(reply.content for reply in got if reply.message_type == "observation")
    if idempotent:
        assert charged == ["charged"]
        assert observation == "charged the card"
    else:
        assert charged == []
        assert "unknown" in observation
    assert observation in model.requests[0].text
    assert got[-1].content == "See above."
    assert got[-1].metadata is not None
    assert [step.status for step in got[-1].metadata.steps] == [
        "ok" if idempotent else "interrupted"
    ]


async def test_the_trace_is_discarded_and_the_answer_stays(tmp_path: Path) -> None:
    async with agent(tmp_path, Calls("clock", {}), Says("Noon.")) as (flow, client, _model):
        reply = await client.answer("What time is it?", user="ann")

        async def discarded() -> bool:
            found = await flow.caller.call(
                GET_WORKING_MEMORY,
                GetWorkingMemoryRequest(user="ann", run_id=reply.metadata.run_id, full=True),
            )
            return found.answer == "Noon." and not found.trace.items

        await wait_until(discarded)
