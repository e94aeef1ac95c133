"""A stopped flow's data directory is all of it: a copy elsewhere answers the same."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourtier.client import Client
from fourtier.runtime.process.data_lock import locked_data
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic
from tests.operations.running.remembering import ANN, BOB, found, remember
from tests.support.ports import free_port
from tests.support.process import FlowCommand
from tests.support.waiting import wait_until

FLOW = {
    "name": "backup",
    "services": {"embeddings": {}, "facts": {}, "episodes": {}, "conversations": {}},
}


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("flock") is None, reason="flock comes with Linux (util-linux)"),
]


class NoFact(Message):
    """What is put on the topic of facts and is none."""

    content: int


@pytest.fixture
def command(tmp_path: Path) -> FlowCommand:
    flow = tmp_path / "flow.yaml"
    flow.write_text(yaml.safe_dump(FLOW), "utf-8")
    return FlowCommand(flow, tmp_path / "data", free_port())


async def copied(data: Path, to: Path) -> int:
    """Run the copy as docs/operating.md has it; its exit code."""
    arguments = ["--nonblock", str(data / "lock"), "cp", "-a", str(data), str(to)]
    process = await asyncio.create_subprocess_exec("flock", *arguments)
    return await process.wait()


async def remember_in_every_store(client: Client) -> None:
    """Something in every store, and a dead letter on the bus."""
    await remember(client)
    await client.caller.call(
        STORE_EPISODE,
        StoreEpisodeRequest(user="ann", goal="Book a flight to Rome", outcome="It was booked"),
    )
    await client.caller.publish(Topic("facts.store", NoFact), NoFact(content=1))


async def remembered(client: Client) -> dict[str, Any]:
    """What the flow answers about all of it."""
    seen: dict[str, Any] = {"c1": await client.conversations.get(ANN, "c1")}
    for scope in (ANN, BOB):
        seen[f"facts of {scope.user}"] = await client.facts.list(scope, include_superseded=True)
        seen[f"found of {scope.user}"] = await found(client, scope)
        seen[f"episodes of {scope.user}"] = await client.episodes.search(scope, "Fly to Rome")
    return seen


async def dead_letters(command: FlowCommand) -> list[str]:
    """The payloads of what could not be handled."""
    code, output = await command.run("dead-letters", "list", "--json", "--flow", str(command.flow))
    assert code == 0, output
    return [letter["payload"] for letter in json.loads(output)]


async def test_a_copy_of_a_stopped_flow_answers_the_same(
    command: FlowCommand, tmp_path: Path
) -> None:
    async with command.up(), command.client() as client:
        await remember_in_every_store(client)
        before = await remembered(client)

        async def dead_lettered() -> bool:
            return bool(await dead_letters(command))

        await wait_until(dead_lettered)
    assert await copied(command.data, tmp_path / "copy") == 0
    shutil.rmtree(command.data)

    restored = FlowCommand(command.flow, tmp_path / "copy", free_port())
    async with restored.up(), restored.client() as client:
        after = await remembered(client)
        letters = await dead_letters(restored)
        again = await client.facts.store(ANN, "I live in Oslo")

    await asyncio.to_thread(shutil.rmtree, restored.data / "bus")
    async with restored.up(), restored.client() as client:
        without_bus = await remembered(client)
        letters_left = await dead_letters(restored)

    assert [fact.content for fact in before["facts of ann"].facts]
    assert before["found of bob"] == ["I live in Rome"]
    assert len(before["episodes of ann"]) == 1
    assert after == before
    assert letters == ['{"content":1}']
    assert not again.created
    assert without_bus["c1"] == before["c1"]
    assert without_bus["found of bob"] == before["found of bob"]
    assert without_bus["episodes of ann"] == before["episodes of ann"]
    assert letters_left == []


async def test_a_flow_that_runs_is_not_copied_and_does_not_start_on_a_copy_under_way(
    command: FlowCommand, tmp_path: Path
) -> None:
    with locked_data(command.data):  # as a flow holds it
        assert await copied(command.data, tmp_path / "copy") == 1
    assert not (tmp_path / "copy").exists()
    assert await copied(command.data, tmp_path / "copy") == 0

    holding = ["--nonblock", str(command.data / "lock"), "cat"]
    copying = await asyncio.create_subprocess_exec(
        "flock", *holding, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert copying.stdin is not None
    assert copying.stdout is not None
    copying.stdin.write(b"held\n")
    assert await copying.stdout.readline() == b"held\n"
    code, output = await command.run("up", str(command.flow))
    copying.stdin.close()
    await copying.wait()

    assert code == 2
    assert "is in use by process" in " ".join(output.split())
