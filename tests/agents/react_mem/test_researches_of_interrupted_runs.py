"""An agent that is killed while its run researches: the next one gets that same research."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fourtier.schema.researcher import RESEARCH
from tests.agents.researcher.interrupted import Blocked, Killable, killable, reached
from tests.agents.researcher.model import Played
from tests.agents.researcher.test_interrupted_research import (
    FLAT,
    REPAIRED,
    ROLES,
    ROOF,
    SAID,
    TWO_ROUNDS,
)
from tests.agents.researcher.test_researcher_service import QUESTION, archive
from tests.support.listening import listening
from tests.support.model import Calls, ModelRequest, Says
from tests.support.model import Reply as ModelReply
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from fourtier.client import Reply


def asked(running: Killable, **arguments: Any) -> "asyncio.Task[Reply]":
    return asyncio.create_task(
        running.client.answer(QUESTION, user="ann", request_id="run-1", **arguments)
    )


@pytest.mark.parametrize("number", [0, 3, 5])
async def test_a_killed_agent_has_its_deep_research_again_and_not_anew(
    tmp_path: Path, number: int
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS), at={number}, until=asyncio.Event())
    async with (
        killable(tmp_path, blocked, "researcher", "agent") as running,
        listening(running.flow.bus, RESEARCH.topic) as researches,
    ):
        await archive(running.flow, running.client, "ann", *SAID)
        asking = asked(running, research="deep")
        await reached(blocked)
        await running.kill("agent")
        await running.start("agent")
        first, second = await researches.take(2)
        blocked.let_go()
        reply = await asking

    assert (first.research_id, second.research_id) == ("run-1/research", "run-1/research")
    assert reply.answer == "In Bodø."
    assert {ROOF, FLAT} <= {each.content for each in reply.metadata.memories}
    receipt = reply.metadata.research
    assert receipt is not None
    assert blocked.played.roles == ROLES[: number + 1] + ROLES[number + 1 - _again(blocked) :]
    assert receipt.completions == 6


def _again(blocked: Blocked) -> int:
    """1 where the research was cancelled with the agent: its completion under way is made again."""
    again = len(blocked.played.roles) - len(ROLES)
    assert 0 <= again <= 1
    return again


def by_tool(blocked: Blocked) -> Any:
    async def script(request: ModelRequest) -> ModelReply:
        if request.schema:
            return await blocked(request)
        if any(message["role"] == "tool" for message in request.messages):
            return Says("In Bodø.")
        return Calls("research_memory", {"question": QUESTION})

    return script


async def test_a_killed_agent_has_the_research_of_its_tool_again(tmp_path: Path) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS), at={4}, until=asyncio.Event())
    async with (
        killable(tmp_path, by_tool(blocked), "researcher", "agent") as running,
        listening(running.flow.bus, RESEARCH.topic) as researches,
    ):
        await archive(running.flow, running.client, "ann", *SAID)
        asking = asked(running)
        await reached(blocked)
        await running.kill("agent")
        await running.start("agent")
        first, second = await researches.take(2)
        blocked.let_go()
        reply = await asking

    assert (first.research_id, second.research_id) == ("run-1/research/0", "run-1/research/0")
    assert reply.answer == "In Bodø."
    (step,) = reply.metadata.steps
    assert step.status == "ok"
    assert ROOF in step.observation
    assert FLAT in step.observation
    assert blocked.played.roles == ROLES[:5] + ROLES[5 - _again(blocked) :]


async def test_researcher_and_agent_are_killed_one_after_the_other(tmp_path: Path) -> None:
    """First the researcher in the follow-up, then the agent when that has ended."""
    blocked = Blocked(Played(**TWO_ROUNDS), at={3})
    answering = asyncio.Event()

    async def script(request: ModelRequest) -> ModelReply:
        if not request.schema and not answering.is_set():
            answering.set()
            await asyncio.Event().wait()
        return await blocked(request)

    async with killable(tmp_path, script, "researcher", "agent") as running:
        await archive(running.flow, running.client, "ann", *SAID)
        asking = asked(running, research="deep")
        await reached(blocked)
        await running.kill("researcher")
        await running.start("researcher")
        await wait_until(answering.is_set)
        await running.kill("agent")
        await running.start("agent")
        reply = await asking

    assert reply.answer == "In Bodø."
    assert blocked.played.roles == [*ROLES[:4], "follow_up", *ROLES[4:]]
    assert REPAIRED in "".join(blocked.played.shown("check"))
    receipt = reply.metadata.research
    assert receipt is not None
    assert (receipt.completions, receipt.resumed) == (6, 1)
    assert (receipt.in_token, receipt.out_token) == (60, 30)
