"""What was learned, as the commands that store it; an episode's id is made from its origin."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from fourtier.memory.learning.model_output import LearnedEpisode, LearnedFact
from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.credentials import has_credentials, redacted
from fourtier.memory.statements.extraction_rules import Statement
from fourtier.memory.statements.text import shorten
from fourtier.schema.episodes import Result, StoreEpisodeRequest
from fourtier.schema.facts import FactKind, StoreFactRequest

_NAMESPACE = uuid.UUID("0d6d4f2e-93c0-5a5b-8f0e-1c7b5a4f9e31")
#: Characters of an episode's goal, outcome and lessons; of a step; of a name; of a quote.
_MAX_TEXT, _MAX_STEP, _MAX_NAME, _MAX_QUOTE = 1_000, 300, 200, 4_000
#: Steps of an episode that a model may write.
MAX_STEPS = 100


def fact_of_statement(origin: Origin, statement: Statement) -> StoreFactRequest:
    """The command that stores what somebody stated."""
    return _store_fact(origin, statement.content, statement.quote)


def facts_of_model(
    origin: Origin, learned: Iterable[LearnedFact], text: str
) -> Iterator[StoreFactRequest]:
    """The commands that store what a model found in `text`; credentials are dropped here too.

    A quote that is not in the text is one that the model made up, and is left out.
    """
    for fact in learned:
        if fact.content.strip() and not has_credentials(f"{fact.content}\n{fact.quote}"):
            yield _store_fact(
                origin,
                shorten(fact.content, _MAX_TEXT),
                fact.quote if fact.quote in text else "",
                kind=fact.kind,
                subject=shorten(fact.subject, _MAX_NAME),
                attribute=shorten(fact.attribute, _MAX_NAME),
            )


def _store_fact(
    origin: Origin,
    content: str,
    quote: str,
    *,
    kind: FactKind = "semantic",
    subject: str = "",
    attribute: str = "",
) -> StoreFactRequest:
    return StoreFactRequest(
        user=origin.scope.user,
        collection=origin.scope.collection,
        content=content,
        kind=kind,
        subject=subject,
        attribute=attribute,
        quote=quote[:_MAX_QUOTE],
        source=origin.source,
        invocation_id=origin.invocation_id,
        speaker=origin.speaker,
        timestamp=origin.said_at,
        metadata=origin.metadata,
    )


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
    """The command that stores an episode; its id is made from the run, or the conversation."""
    made_from = [*origin.scope, origin.source, origin.invocation_id]
    return StoreEpisodeRequest(
        user=origin.scope.user,
        collection=origin.scope.collection,
        episode_id=str(uuid.uuid5(_NAMESPACE, json.dumps(made_from))),
        goal=shorten(redacted(goal), _MAX_TEXT),
        steps=tuple(shorten(redacted(step), _MAX_STEP) for step in steps[:MAX_STEPS]),
        outcome=shorten(redacted(outcome), _MAX_TEXT),
        lessons=shorten(redacted(lessons), _MAX_TEXT),
        result=result,
        source=origin.source,
        timestamp=ended_at,
        metadata=origin.metadata,
    )


def episode_of_model(
    origin: Origin, learned: LearnedEpisode, ended_at: datetime, result: Result | None = None
) -> StoreEpisodeRequest:
    """The command that stores a model's episode; `result` where it is known without the model."""
    return episode(
        origin,
        ended_at=ended_at,
        goal=learned.goal,
        steps=learned.steps,
        outcome=learned.outcome,
        lessons=learned.lessons,
        result=result or learned.result,
    )
