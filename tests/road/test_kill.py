"""`kill -9` in the middle of an import: every message is there once."""

import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from fourtier.client import Client
from fourtier.schema.message import Scope
from tests.support.ports import free_port
from tests.support.process import FlowCommand
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.embedded]

ANN = Scope("ann", "default")
MESSAGES = 1_000
CONVERSATIONS = 10
FLOW = {
    "name": "importing",
    "services": {
        "embeddings": {},
        "facts": {},
        "conversations": {},
        "extraction": {"method": "statements"},
    },
}


def line(number: int) -> str:
    said_at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=number)
    return json.dumps(
        {
            "conversation_id": f"c{number % CONVERSATIONS}",
            "user": "ann",
            "speaker": "Ann",
            "timestamp": said_at.isoformat(),
            "content": f"I planted tree number {number} in the garden behind house {number * 7}.",
        }
    )


async def recorded(client: Client) -> list[str]:
    """What the conversation records hold, all of them together."""
    said: list[str] = []
    for number in range(CONVERSATIONS):
        record = await client.conversations.get(ANN, f"c{number}")
        said += [invocation.query for invocation in record.invocations]
    return said


async def known_facts(client: Client) -> int:
    return (await client.facts.list(ANN, limit=1, include_superseded=True)).total


@pytest.mark.timeout(400)
async def test_an_import_survives_kill_9_of_the_flow(tmp_path: Path) -> None:
    flow_file = tmp_path / "flow.yaml"
    flow_file.write_text(yaml.safe_dump(FLOW), "utf-8")
    dialogue = tmp_path / "dialogue.jsonl"
    dialogue.write_text("\n".join(map(line, range(MESSAGES))), "utf-8")
    command = FlowCommand(flow_file, tmp_path / "data", free_port())

    async with command.up() as flow:
        importing = await command.start("import", str(dialogue), "--flow", str(flow_file))
        async with command.client() as client:

            async def in_the_middle() -> bool:
                return await known_facts(client) >= MESSAGES // 10

            await wait_until(in_the_middle, within=120)
            facts_before = await known_facts(client)
            flow.send_signal(signal.SIGKILL)
            await flow.wait()
    assert facts_before < MESSAGES

    async with command.up(), command.client() as client:
        output, _ = await importing.communicate()
        assert importing.returncode == 0, output.decode()

        async def complete() -> bool:
            return len(await recorded(client)) >= MESSAGES and await known_facts(client) >= MESSAGES

        await wait_until(complete, within=120)
        again, _ = await command.run("import", str(dialogue), "--flow", str(flow_file))
        await wait_until(complete, within=120)
        said = await recorded(client)
        facts = await known_facts(client)
        letters_code, letters = await command.run("dead-letters", "list", "--flow", str(flow_file))

    assert again == 0
    assert sorted(said) == sorted(json.loads(line(number))["content"] for number in range(MESSAGES))
    assert facts == MESSAGES
    assert letters_code == 0
    assert "There are no dead letters." in letters
