"""Promotion by a model: in parts, with what is known, and one episode for the whole."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourtier.schema.conversations import (
    END_CONVERSATION,
    UPDATE_CONVERSATION,
    EndConversationRequest,
    InvocationSummary,
    UpdateConversationMemoryRequest,
)
from fourtier.schema.episodes import STORE_EPISODE
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import listening
from tests.support.model import ModelRequest, Reply, ScriptedModel, Writes, scripted_model
from tests.support.waiting import wait_until

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def fact(content: str, line: int, **other: Any) -> dict[str, Any]:
    empty = {"kind": "semantic", "subject": "", "attribute": "", "one_value": False, "quote": ""}
    return {"content": content, "line": line, "replaces": []} | empty | other


def episode(goal: str) -> dict[str, Any]:
    return {
        "goal": goal,
        "steps": ["Talked"],
        "outcome": "Found",
        "lessons": "",
        "result": "success",
    }


@asynccontextmanager
async def flow_with(
    tmp_path: Path, *replies: Reply, script: Any = None, **parameters: Any
) -> AsyncGenerator[tuple[RunningFlow, ScriptedModel]]:
    services = {
        "embeddings": {},
        "facts": {},
        "completion": {},
        "conversations": {},
        "promotion": {"method": "llm"} | parameters,
    }
    async with (
        scripted_model(*replies, script=script) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
    ):
        yield flow, model


async def talk(
    flow: RunningFlow, *queries: str, conversation: str = "c1", speaker: str = ""
) -> None:
    """Put invocations into the record, and end the conversation."""
    for number, query in enumerate(queries):
        summary = InvocationSummary(
            id=f"r{number}",
            query=query,
            speaker=speaker,
            result="" if speaker else f"Answer {number}.",
            timestamp=START + timedelta(days=number),
        )
        await flow.caller.call(
            UPDATE_CONVERSATION,
            UpdateConversationMemoryRequest(
                user="ann", conversation_id=conversation, invocation_summary=summary
            ),
        )
    request = EndConversationRequest(user="ann", conversation_id=conversation)
    await flow.caller.call(END_CONVERSATION, request)


async def test_facts_come_from_their_lines_and_the_episode_from_the_whole(tmp_path: Path) -> None:
    learned = fact(
        "Ann's sister Anna lives in Rome.", 2, quote="Anna lives in Rome", subject="Anna"
    )
    reply = Writes({"facts": [learned], "episode": episode("Plan a visit to Rome")})
    async with (
        flow_with(tmp_path, reply) as (flow, model),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        known = StoreFactRequest(user="ann", content="Ann has a sister called Anna.")
        await flow.caller.call(STORE_FACT, known)
        await facts.next()
        await talk(flow, "I have a sister.", "My sister Anna lives in Rome. My PIN is 4711.")
        stored, whole = await facts.next(), await episodes.next()

    assert stored.content == "Ann's sister Anna lives in Rome."
    assert (stored.invocation_id, stored.quote) == ("r1", "Anna lives in Rome")
    assert stored.timestamp == START + timedelta(days=1)
    assert stored.metadata == {"run_id": "r1"}
    assert whole.goal == "Plan a visit to Rome"
    assert whole.result == "success"
    (request,) = model.requests
    assert "Ann has a sister called Anna." in request.last
    assert "[2] 2026-03-02 ann: My sister Anna lives in Rome." in request.last
    assert "The assistant: Answer 1." in request.last
    assert "4711" not in request.last


async def test_of_talk_between_people_a_model_makes_no_episode(tmp_path: Path) -> None:
    reply = Writes({"facts": [fact("Ann sings.", 1)], "episode": episode("Sing")})
    async with (
        flow_with(tmp_path, reply, reply) as (flow, _),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        await talk(flow, "I sing.", "I dance.", speaker="Ann")
        assert (await facts.next()).source == "c1"
        await talk(flow, "I sing.", "I sing again.", conversation="c2")

        assert (await episodes.next()).source == "c2"


async def test_a_line_that_is_not_there_does_no_harm(tmp_path: Path) -> None:
    reply = Writes({"facts": [fact("Ann sings.", 99)], "episode": None})
    async with (
        flow_with(tmp_path, reply) as (flow, _),
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await talk(flow, "I sing.", "And I dance.")

        assert (await facts.next()).invocation_id == "r1"


async def test_a_long_conversation_is_read_in_parts_that_fit(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Reply:
        if "read in parts" in request.text:
            return Writes({"episode": episode("The whole of it")})
        number = int(request.last.split("Part ")[1].split(" ")[0])
        learned = fact(f"Fact of part {number}.", 1, quote="I walked on.")
        return Writes({"facts": [learned], "episode": episode("A part")})

    async with (
        flow_with(tmp_path, script=script, **{"part-tokens": 200}) as (flow, model),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        await talk(flow, *(f"Story {number}: " + "I walked on. " * 30 for number in range(6)))
        whole = await episodes.next()
        parts = len(model.requests) - 1
        stored = await facts.take(parts)

    assert parts > 1
    assert whole.goal == "The whole of it"
    assert [each.content for each in stored] == [
        f"Fact of part {number}." for number in range(1, parts + 1)
    ]
    conversation = [
        request.last.split("of the conversation:\n")[1] for request in model.requests[:-1]
    ]
    assert all(len(part) <= 800 for part in conversation)
    for number in range(6):
        assert sum(f"Story {number}:" in part for part in conversation) == 1
    assert model.requests[-1].last.count('"goal": "A part"') == parts


async def test_one_invocation_has_no_episode_of_its_own(tmp_path: Path) -> None:
    reply = Writes({"facts": [fact("Ann sings.", 1)], "episode": episode("Sing")})
    async with (
        flow_with(tmp_path, reply, reply) as (flow, _),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        await talk(flow, "I sing.")
        assert (await facts.next()).source == "c1"
        await talk(flow, "I sing.", "I sing again.", conversation="c2")

        assert (await episodes.next()).source == "c2"


async def test_the_flows_own_prompt_is_used(tmp_path: Path) -> None:
    reply = Writes({"facts": [], "episode": None})
    prompts = {"part": "Read what should last."}
    async with flow_with(tmp_path, reply, prompts=prompts) as (flow, model):
        await talk(flow, "I have a sister.")
        await wait_until(lambda: bool(model.requests))
    assert model.requests[0].messages[0]["content"].startswith("Read what should last.")


async def test_where_one_part_stays_unreadable_rules_promote_the_whole(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Reply:
        if "Part 1" in request.text:
            learned = fact("Ann is a walker.", 1, quote="I walked on.")
            return Writes({"facts": [learned], "episode": None})
        return Writes({"facts": "none", "episode": None})

    async with (
        flow_with(tmp_path, script=script, **{"part-tokens": 200}) as (flow, _),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        await talk(flow, "I walked on. " * 30, "I live in Oslo. " + "Where is a bakery? " * 30)
        stored = await facts.take(2)
        reported = await episodes.next()

    assert [each.content for each in stored] == ["I walked on.", "I live in Oslo."]
    assert (reported.source, len(reported.steps)) == ("c1", 2)
