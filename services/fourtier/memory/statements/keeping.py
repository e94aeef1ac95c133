"""What was learned, as the commands that keep it, with ids made from what it was learned from."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.memory.statements.credentials import has_credentials, redacted
from fourtier.memory.statements.learned import LearnedFact
from fourtier.memory.statements.stated import Statement
from fourtier.memory.statements.text import shorten
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.episodes import STORE_EPISODE, Result, StoreEpisodeRequest
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Metadata, Scope

_NAMESPACE = uuid.UUID("0d6d4f2e-93c0-5a5b-8f0e-1c7b5a4f9e31")
#: Of an episode's goal, outcome and lessons; and of one of its steps.
_LONGEST, _LONGEST_STEP = 1_000, 300


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


def fact_of_statement(origin: Origin, statement: Statement) -> StoreFactRequest:
    """The command that keeps what somebody stated."""
    return StoreFactRequest(
        user=origin.scope.user,
        collection=origin.scope.collection,
        content=statement.content,
        quote=statement.quote,
        source=origin.source,
        invocation_id=origin.invocation_id,
        speaker=origin.speaker,
        timestamp=origin.said_at,
        metadata=origin.metadata,
    )


def facts_of_model(
    origin: Origin, learned: Sequence[LearnedFact], text: str
) -> list[StoreFactRequest]:
    """The commands that keep what a model found in `text`; credentials are dropped here too.

    A quote that is not in the text is one that the model made up, and is left out.
    """
    return [
        StoreFactRequest(
            user=origin.scope.user,
            collection=origin.scope.collection,
            content=shorten(fact.content, _LONGEST),
            kind=fact.kind,
            subject=fact.subject.strip(),
            attribute=fact.attribute.strip(),
            quote=fact.quote if fact.quote in text else "",
            source=origin.source,
            invocation_id=origin.invocation_id,
            speaker=origin.speaker,
            timestamp=origin.said_at,
            metadata=origin.metadata,
        )
        for fact in learned
        if fact.content.strip() and not has_credentials(f"{fact.content}\n{fact.quote}")
    ]


def episode(
    origin: Origin,
    *,
    ended_at: datetime,
    goal: str,
    steps: Sequence[str],
    outcome: str,
    lessons: str = "",
    result: Result = "unknown",
) -> StoreEpisodeRequest:
    """The command that keeps an episode; its id is made from the run, or from the conversation."""
    part = f"run\n{origin.invocation_id}" if origin.invocation_id else "whole"
    return StoreEpisodeRequest(
        user=origin.scope.user,
        collection=origin.scope.collection,
        episode_id=str(uuid.uuid5(_NAMESPACE, f"{origin.scope.key}\n{origin.source}\n{part}")),
        goal=shorten(redacted(goal), _LONGEST),
        steps=tuple(shorten(redacted(step), _LONGEST_STEP) for step in steps),
        outcome=shorten(redacted(outcome), _LONGEST),
        lessons=shorten(redacted(lessons), _LONGEST),
        result=result,
        source=origin.source,
        timestamp=ended_at,
        metadata=origin.metadata,
    )


async def keep_facts(caller: Caller, cause: str, facts: Sequence[StoreFactRequest]) -> None:
    """Send the facts on; returns when the broker has them all."""
    for index, fact in enumerate(facts):
        await caller.publish(STORE_FACT.topic, fact, message_id=f"{cause}/fact/{index}")


async def keep_episode(caller: Caller, cause: str, request: StoreEpisodeRequest) -> None:
    """Send the episode on; returns when the broker has it."""
    await caller.publish(STORE_EPISODE.topic, request, message_id=f"{cause}/episode")
