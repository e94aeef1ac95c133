"""Facts without their vectors: there, not found, and found again after `fourtier facts reindex`."""

import asyncio
import shutil
from pathlib import Path

import pytest
import yaml

from fourtier.client import Client
from fourtier.runtime.errors import CallFailedError
from fourtier.schema.message import Scope
from tests.support.flow import RunningFlow, running_flow
from tests.support.ports import free_port
from tests.support.process import FlowCommand

pytestmark = pytest.mark.processes

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
SERVICES = {"embeddings": {}, "facts": {}}
TREES = [f"I planted tree number {number} behind house {number * 7}" for number in range(150)]


def without_vectors(data: Path) -> None:
    """What a restore of the graph alone leaves."""
    shutil.rmtree(data / "facts" / "vectors-facts")


async def found(client: Client, scope: Scope, query: str) -> list[str]:
    """What a search finds."""
    return [fact.content for fact in await client.facts.search(scope, query)]


async def reindexed(client: Client) -> tuple[int, int, int]:
    """Make the whole index; how many facts were indexed, are there, and are in the index."""
    part = await client.facts.reindex()
    indexed = part.indexed
    while part.cursor:
        part = await client.facts.reindex(part.cursor)
        indexed += part.indexed
    return indexed, part.facts, part.points


async def test_the_command_makes_the_index_from_the_graph(tmp_path: Path) -> None:
    flow = tmp_path / "flow.yaml"
    flow.write_text(yaml.safe_dump({"name": "small", "services": SERVICES}), "utf-8")
    command = FlowCommand(flow, tmp_path / "data", free_port())
    async with command.up(), command.client() as client:
        await client.facts.store(ANN, "I live in Oslo")
        await client.facts.store(BOB, "I live in Rome")
    without_vectors(command.data)

    async with command.up(), command.client() as client:
        listed = await client.facts.list(ANN)
        with pytest.raises(CallFailedError, match="0 of 2 entries"):
            await found(client, ANN, "Where is home?")
        first = await command.run("facts", "reindex", "--flow", str(flow))
        again = await command.run("facts", "reindex", "--flow", str(flow))
        after = [await found(client, scope, "Where is home?") for scope in (ANN, BOB)]

    assert listed.total == 1
    for code, output in (first, again):
        assert code == 0, output
        assert "2 facts indexed." in output
        assert "removed" not in output
    assert after == [["I live in Oslo"], ["I live in Rome"]]


async def all_found(flow: RunningFlow, contents: list[str]) -> None:
    client = Client(flow.caller)
    asked = await asyncio.gather(*(found(client, ANN, content) for content in contents))
    for content, (first, *_) in zip(contents, asked, strict=True):
        assert first == content


async def test_facts_written_meanwhile_are_found_too(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        client = Client(flow.caller)
        await asyncio.gather(*(client.facts.store(ANN, tree) for tree in TREES[:100]))
    without_vectors(tmp_path)

    async with running_flow(tmp_path, SERVICES) as flow:
        client = Client(flow.caller)

        async def write() -> None:
            for tree in TREES[100:]:
                await client.facts.store(ANN, tree)

        await asyncio.gather(reindexed(client), reindexed(client), write())
        await all_found(flow, TREES)
        numbers = await reindexed(client)
    assert numbers == (len(TREES), len(TREES), len(TREES))


async def test_a_cursor_that_is_not_ours_is_rejected(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        with pytest.raises(CallFailedError, match="is not a cursor"):
            await Client(flow.caller).facts.reindex("yesterday")
