"""What a method of extraction gives, whichever it is."""

from dataclasses import dataclass
from typing import Protocol

from fourtier.memory.statements.keeping import Origin
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest


@dataclass(frozen=True, slots=True)
class Learned:
    """What is to be kept of one run or one turn."""

    facts: tuple[StoreFactRequest, ...] = ()
    episode: StoreEpisodeRequest | None = None


class Method(Protocol):
    """A way to learn from what happened."""

    async def from_run(
        self, event: InvocationEnded, *, facts: bool, task: tuple[AgentStep, ...]
    ) -> Learned:
        """Learn from a run: facts if they are wanted, an episode if it has steps of a task."""
        ...

    async def from_turn(self, turn: DialogueTurn) -> Learned:
        """Learn from a turn of dialogue."""
        ...


def origin_of_run(event: InvocationEnded) -> Origin:
    """Facts of a run were said when it began, by its user."""
    return Origin(
        scope=event.scope,
        source=event.conversation_id,
        invocation_id=event.run_id,
        speaker=event.user,
        said_at=event.started_at,
        metadata={"run_id": event.run_id},
    )


def origin_of_turn(turn: DialogueTurn) -> Origin:
    """Facts of a turn were said by its speaker."""
    return Origin(
        scope=turn.scope,
        source=turn.conversation_id,
        invocation_id=turn.turn_id,
        speaker=turn.speaker,
        said_at=turn.timestamp,
        metadata={"turn_id": turn.turn_id},
    )
