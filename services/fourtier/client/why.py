"""Why a run's prompt had the memories that it had."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from fourtier.schema.conversations import GetRunResponse
from fourtier.schema.message import MAX_ITEMS, Scope
from fourtier.schema.tiers import MemoryConsidered

if TYPE_CHECKING:
    from fourtier.client.client import Client


@dataclass(frozen=True, slots=True)
class ConsideredMemory:
    """A memory that was found for a run.

    Attributes:
        considered: its place, how it was found, and whether it stood in the prompt.
        content: its words as they are stored now; None where it was forgotten or has expired.
        timestamp: when it was said.
    """

    considered: MemoryConsidered
    content: str | None = None
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """A run, and the memories that were found for it, best first."""

    run: GetRunResponse
    memories: Sequence[ConsideredMemory]


async def explain(client: "Client", scope: Scope, run_id: str) -> Why | None:
    """Read the record of a run, and the memories that it names; None where there is no such run."""
    run = await client.conversations.run(scope, run_id)
    if not run.run_id:
        return None
    words = await _words(client, scope, run.considered)
    memories: list[ConsideredMemory] = []
    for each in run.considered:
        content, timestamp = words.get((each.tier, each.id), (None, None))
        memories.append(ConsideredMemory(each, content, timestamp))
    return Why(run, memories)


async def _words(
    client: "Client", scope: Scope, considered: Sequence[MemoryConsidered]
) -> dict[tuple[str, str], tuple[str, datetime]]:
    """The words of memories, and when they were said, by tier and id."""
    found: dict[tuple[str, str], tuple[str, datetime]] = {}
    for each in considered:
        if (each.tier, each.id) in found:
            continue
        if each.tier == "facts" and (fact := await client.facts.get(scope, each.id)) is not None:
            found[each.tier, each.id] = (fact.content, fact.timestamp)
        if each.tier == "archive":
            for entry in (await client.archive.page_of(scope, each.id)).entries:
                found[each.tier, entry.id] = (entry.content, entry.timestamp)
    wanted = {each.id for each in considered if each.tier == "episodes"}
    offset, total = 0, 1
    while wanted and offset < total:
        listed = await client.episodes.list(scope, limit=MAX_ITEMS, offset=offset)
        for episode in listed.episodes:
            found["episodes", episode.id] = (episode.goal, episode.timestamp)
            wanted.discard(episode.id)
        offset, total = offset + MAX_ITEMS, listed.total
    return found
