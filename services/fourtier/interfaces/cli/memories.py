"""The memories that an answer was made from, as a chat and `fourtier ask` show them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from rich.text import Text

from fourtier.interfaces.cli.output import visible
from fourtier.schema.agent import MemoryUsed, RunMetadata

_TIERS = {"facts": "fact", "episodes": "episode", "conversation": "said", "archive": "archive"}


def new_conversation_id() -> str:
    """A name that sorts by time and is not used yet."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid4().hex[:6]}"


def newest_first(memories: Sequence[MemoryUsed]) -> list[MemoryUsed]:
    """Memories in the order in which they are shown."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(memories, key=lambda memory: memory.timestamp or oldest, reverse=True)


def memories_text(metadata: RunMetadata) -> Text:
    """The memories of a run, newest first, and the tiers that it had to do without.

    A fact whose words an entry of the archive has is not shown once more.
    """
    twice = {each.id for each in metadata.considered if each.shown == "in-entry"}
    shown = [
        f"    {_TIERS.get(memory.tier, memory.tier):<8}"
        f"{memory.timestamp.astimezone():%Y-%m-%d %H:%M}  {memory.content}"
        for memory in newest_first(metadata.memories)
        if memory.timestamp and memory.id not in twice
    ]
    without = [f"    without {tier}: {reason}" for tier, reason in metadata.tiers_left_out.items()]
    kinds = ", ".join(f"{kind} ({number})" for kind, number in metadata.redacted.items())
    if metadata.opted_out:
        without.append("    memory is off: this user has opted out")
    if kinds:
        without.append(f"    not remembered: {kinds}")
    head = "  memories used, newest first:" if shown else "  no memories used"
    return Text.assemble(
        *((f"{visible(line)}\n", "dim") for line in [head, *shown]),
        *((f"{visible(line)}\n", "yellow") for line in without),
    )
