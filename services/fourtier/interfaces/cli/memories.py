"""The memories that an answer was made from, as a chat and `fourtier ask` show them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from rich.markup import escape

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


def memories_text(metadata: RunMetadata) -> str:
    """The memories of a run, newest first, and the tiers that it had to do without, as markup.

    A fact whose words an entry of the archive has is not shown once more.
    """
    twice = {each.id for each in metadata.considered if each.shown == "in-entry"}
    shown = [
        f"[dim]    {_TIERS.get(memory.tier, memory.tier):<8}"
        f"{memory.timestamp.astimezone():%Y-%m-%d %H:%M}  {_safe(memory.content)}[/]"
        for memory in newest_first(metadata.memories)
        if memory.timestamp and memory.id not in twice
    ]
    without = [
        f"[yellow]    without {_safe(tier)}: {_safe(reason)}[/]"
        for tier, reason in metadata.tiers_left_out.items()
    ]
    kinds = ", ".join(f"{kind} ({number})" for kind, number in metadata.redacted.items())
    if metadata.opted_out:
        without.append("[yellow]    memory is off: this user has opted out[/]")
    if kinds:
        without.append(f"[yellow]    not remembered: {_safe(kinds)}[/]")
    head = "[dim]  memories used, newest first:[/]" if shown else "[dim]  no memories used[/]"
    return "\n".join([head, *shown, *without, ""])


def _safe(text: str) -> str:
    return escape(visible(text))
