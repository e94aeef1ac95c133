"""A run that remembers how an earlier one went takes fewer steps: agent, memory and engines real.

The model is scripted, and decides by nothing but its prompt: it tries one setting after another,
and begins with the one that worked where an episode in the prompt says so.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, Reply, client_on
from fourtier.schema.episodes import STORE_EPISODE, Result, StoreEpisodeRequest
from fourtier.schema.erasure import ERASE_EPISODES
from fourtier.schema.message import Scope
from tests.agents.react_mem.test_agent import ALL, agent, offer
from tests.support.erasing import erase
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import Calls, ModelRequest, Says, scripted_model
from tests.support.model import Reply as Answer
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
DIRECTIONS = ("left", "up", "down", "right")
OPENED = "The gate of the north tower is open now"
#: What worked, in the words of an episode: its own lesson, or what the success did otherwise.
_WORKED = (
    re.compile(r'turn_wheel\({"direction": "(\w+)"}\) worked where'),
    re.compile(r"the success of [\d-]+ called turn_wheel with direction (\w+)"),
)


def tries_until_open(request: ModelRequest) -> Answer:
    """The next direction that was not tried in this run, what an episode says worked first."""
    if request.messages[-1]["role"] == "tool" and OPENED in request.last:
        return Says("It is open.")
    tried = [call for message in request.messages for call in message.get("tool_calls", [])]
    episodes = "".join(re.findall(r'<data from="episodes">.*?</data>', request.text, re.DOTALL))
    known = [word for pattern in _WORKED for word in pattern.findall(episodes)]
    order = list(dict.fromkeys([*known, *DIRECTIONS]))
    return Calls("turn_wheel", {"direction": order[len(tried)]}, thought="I try it.")


@asynccontextmanager
async def tower(
    data: Path, monkeypatch: pytest.MonkeyPatch, *, learns: bool
) -> AsyncGenerator[tuple[RunningFlow, Client]]:
    def turn_wheel(direction: str) -> str:
        """Turn the wheel of the gate."""
        return OPENED if direction == "right" else "Error: the wheel is stuck"

    offer(monkeypatch, turn_wheel)
    services: dict[str, dict[str, Any]] = {**ALL}
    if learns:
        services["extraction"] = {"method": "statements"}
    async with (
        scripted_model(script=tries_until_open) as model,
        running_flow(data, services, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        yield flow, client


def steps(reply: Reply) -> list[str]:
    """The directions in which a run turned the wheel."""
    return [str(step.arguments["direction"]) for step in reply.metadata.steps if step.action]


async def test_a_run_takes_fewer_steps_with_the_episode_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tower(tmp_path, monkeypatch, learns=True) as (_, client):
        first = await client.answer("Please open the gate of the north tower", user="ann")

        async def reported() -> bool:
            return (await client.episodes.list(ANN)).total == 1

        await wait_until(reported)
        again = await client.answer("The north tower's gate has to be opened", user="ann")
        somebody_else = await client.answer("Open the gate of the north tower", user="bob")
        forgotten = await erase(client.caller, ERASE_EPISODES, ANN, everything=True)
        without = await client.answer("Open the north tower gate once more", user="ann")

    assert steps(first) == list(DIRECTIONS)
    assert steps(again) == ["right"]
    assert [each.tier for each in again.metadata.memories].count("episodes") == 1
    assert steps(somebody_else) == list(DIRECTIONS)
    assert forgotten == 1
    assert steps(without) == list(DIRECTIONS)


async def test_a_failure_helps_by_what_the_success_did_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def store(flow: RunningFlow, result: Result, direction: str) -> None:
        step = f'turn_wheel({{"direction": "{direction}"}}): something was heard'
        await flow.caller.call(
            STORE_EPISODE,
            StoreEpisodeRequest(
                user="ann",
                goal="Open the gate of the north tower",
                steps=(step,),
                result=result,
                timestamp=datetime(2026, 5, 1, tzinfo=UTC),
                episode_id=result,
            ),
        )

    async with tower(tmp_path, monkeypatch, learns=False) as (flow, client):
        await store(flow, "failure", "up")
        alone = await client.answer("Open the gate of the north tower", user="ann")
        await store(flow, "success", "right")
        compared = await client.answer("Open the gate of the north tower", user="ann")
        assert (await client.forget.episode(ANN, "success")).number == 1
        gone = await client.answer("Open the gate of the north tower", user="ann")

    assert steps(alone) == list(DIRECTIONS)
    assert steps(compared) == ["right"]
    assert steps(gone) == list(DIRECTIONS)


async def test_what_a_prompt_leaves_out_of_an_episode_is_read_by_its_id_in_ones_own_scope(
    tmp_path: Path,
) -> None:
    hidden = "The key lies under the third stone"
    script = [
        Calls("recall_episodes", {"id": "tower"}, thought="I read it."),
        Says("Read."),
        Calls("recall_episodes", {"id": "tower"}, thought="I read it."),
        Says("Nothing."),
    ]
    async with agent(tmp_path, *script) as (flow, client, model):
        steps = [*(f'look({{"at": "stone {n}"}}): {"grey " * 40}' for n in range(9)), hidden]
        await flow.caller.call(
            STORE_EPISODE,
            StoreEpisodeRequest(
                user="ann", goal="Open the tower", steps=(*steps, *steps), episode_id="tower"
            ),
        )
        mine = await client.answer("Open the tower", user="ann")
        theirs = await client.answer("Open the tower", user="bob")

    assert 'recall_episodes({"id": "tower"})' in model.requests[0].text
    assert model.requests[0].text.count("grey") == 0
    assert mine.metadata.steps[0].observation.count("grey") == 2 * 9 * 40
    assert hidden in mine.metadata.steps[0].observation
    assert theirs.metadata.steps[0].observation == "There is no such task."
