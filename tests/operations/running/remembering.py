"""What is remembered before a backup, and must be there after a restore."""

from datetime import UTC, datetime

from fourtier.client import Client
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import Scope
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
MOVED = "I moved to Bergen, where I live now"


async def remember(client: Client) -> None:
    """Facts of two users, of which one supersedes another, and a recorded turn."""
    await client.facts.store(ANN, "I live in Oslo")
    await client.facts.store(ANN, MOVED)
    await client.facts.store(BOB, "I live in Rome")
    turn = DialogueTurn(
        user="ann",
        conversation_id="c1",
        turn_id="t1",
        speaker="Ann",
        timestamp=datetime(2026, 3, 1, tzinfo=UTC),
        content="I live in Oslo.",
    )
    await client.conversations.record(turn)

    async def recorded() -> bool:
        return bool((await client.conversations.get(ANN, "c1")).invocations)

    await wait_until(recorded)


async def found(client: Client, scope: Scope) -> list[str]:
    """The facts that a question finds."""
    return [fact.content for fact in await client.facts.search(scope, "Where is home?")]
