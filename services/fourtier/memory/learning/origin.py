"""Where something was learned: what every fact and episode carries as its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from pydantic import JsonValue

from fourtier.schema.agent import InvocationEnded
from fourtier.schema.conversations import DialogueTurn, InConversation, InvocationSummary
from fourtier.schema.message import Metadata, Scope


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was learned.

    Attributes:
        source: the conversation.
        invocation_id: of the run, or of the turn of a dialogue; empty for a whole conversation.
        metadata: names the run or the turn, so that evidence can be traced.
    """

    scope: Scope
    source: str
    invocation_id: str
    speaker: str
    said_at: datetime
    metadata: Metadata

    def of_statement(self, number: int) -> Self:
        """The origin of the statement at this place in what was said, from 0.

        It counts as said a microsecond later than the one before it, so that the order of the
        statements in a message stays known.
        """
        return replace(self, said_at=self.said_at + timedelta(microseconds=number))


def origin_of(
    message: InConversation,
    said_at: datetime,
    *,
    run_id: str = "",
    turn_id: str = "",
    speaker: str = "",
    metadata: Mapping[str, JsonValue] | None = None,
) -> Origin:
    """The origin of what was said in a run, in a turn, or, with neither, in a conversation.

    Facts of a run or a turn have the same origin whether extraction or promotion learns them, so
    that both store one fact. Whoever spoke in a run is the user.
    """
    names = {"run_id": run_id} if run_id else {"turn_id": turn_id} if turn_id else {}
    return Origin(
        scope=message.scope,
        source=message.conversation_id,
        invocation_id=run_id or turn_id,
        speaker=speaker or (message.user if run_id else ""),
        said_at=said_at,
        metadata={**names, **(metadata or {})},
    )


def origin_of_run(event: InvocationEnded) -> Origin:
    """What a run's user said was said when the run began."""
    return origin_of(event, event.started_at, run_id=event.run_id)


def origin_of_turn(turn: DialogueTurn) -> Origin:
    """What a turn's speaker said."""
    return origin_of(turn, turn.timestamp, turn_id=turn.turn_id, speaker=turn.speaker)


def is_turn(invocation: InvocationSummary) -> bool:
    """Whether it is a turn between people, and not a run of the agent."""
    return bool(invocation.speaker) and not invocation.summary and not invocation.result


def origin_of_invocation(conversation: InConversation, invocation: InvocationSummary) -> Origin:
    """What was said in an invocation of a conversation's record."""
    at, identity, speaker = invocation.timestamp, invocation.id, invocation.speaker
    if is_turn(invocation):
        return origin_of(conversation, at, turn_id=identity, speaker=speaker)
    return origin_of(conversation, at, run_id=identity, speaker=speaker)
