"""Waiting until a flow's memory has handled what came."""

from datetime import UTC, datetime

from fourtier.client import Client
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import Scope
from tests.support.waiting import wait_until


async def memory_is_idle(client: Client, speaker: str = "marker") -> None:
    """Say something behind what came, and wait until it is a fact."""
    marker = f"The badge of the day is {datetime.now(UTC):%H%M%S%f}."
    turn = DialogueTurn(
        user=speaker,
        conversation_id="m",
        speaker=speaker,
        content=marker,
        timestamp=datetime.now(UTC),
        turn_id=marker,
    )
    await client.conversations.record(turn)

    async def arrived() -> bool:
        facts = await client.facts.list(Scope(speaker, "default"))
        return any(each.content == marker for each in facts.facts)

    await wait_until(arrived)
