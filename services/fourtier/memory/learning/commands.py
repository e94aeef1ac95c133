"""What was learned, as the commands that store it; an episode's id is made from its origin."""

import json
import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from fourtier.memory.learning.attributes import has_one_value
from fourtier.memory.learning.candidates import Candidates
from fourtier.memory.learning.grounding import Source
from fourtier.memory.learning.model_output import LearnedEpisode, LearnedFact
from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.dates import relative_dates
from fourtier.memory.statements.extraction_rules import Statement
from fourtier.memory.statements.text import shorten
from fourtier.models.text.instructions import (
    is_order_in_step,
    is_order_to_assistant,
    without_orders,
)
from fourtier.runtime.telemetry import CountedMetric
from fourtier.schema.episodes import Result, StoreEpisodeRequest
from fourtier.schema.facts import FactKind, StoreFactRequest

log = logging.getLogger(__name__)

UNSUPPORTED = CountedMetric(
    "fourtier.learning.unsupported_statements",
    "statements of a model that were not said, and not stored",
    "{statement}",
)

_NAMESPACE = uuid.UUID("0d6d4f2e-93c0-5a5b-8f0e-1c7b5a4f9e31")
#: Characters of an episode's goal, outcome and lessons; of a step; of a name; of a quote.
_MAX_TEXT, _MAX_STEP, _MAX_NAME, _MAX_QUOTE = 1_000, 500, 200, 4_000
#: Steps of an episode that a model may write.
MAX_STEPS = 100


def fact_of_statement(origin: Origin, statement: Statement) -> StoreFactRequest:
    """The command that stores what somebody stated."""
    return _store_fact(origin, statement.content, statement.quote)


def facts_of_model(
    origin: Origin,
    learned: Iterable[LearnedFact],
    source: Source,
    candidates: Candidates,
    said: str,
) -> Iterator[StoreFactRequest]:
    """The commands that store what a model found.

    So are orders to the assistant: a text may have told the model to write them down.

    What the source does not support is one that the model made up, and is dropped and counted; a
    quote that was not said is left out. Ids and times are never the model's: it names candidates by
    their numbers, and the order of statements is that of their quotes in what was `said`. An
    attribute with several values at a time is left out, because it would supersede.
    """
    found = sorted(
        ((source.place(fact.quote, said), fact) for fact in learned), key=lambda each: each[0]
    )
    for place, fact in found:
        if not fact.content.strip():
            continue
        if is_order_to_assistant(f"{fact.content}\n{fact.quote}"):
            continue
        if not source.supports(fact.content, fact.quote):
            _count_unsupported(origin)
            continue
        stated = origin.of_statement(place)
        yield _store_fact(
            stated,
            shorten(fact.content, _MAX_TEXT),
            fact.quote if source.quoted(fact.quote) else "",
            kind=fact.kind,
            subject=shorten(fact.subject, _MAX_NAME),
            attribute=shorten(fact.attribute, _MAX_NAME) if has_one_value(fact) else "",
            replaces=candidates.replaced(fact.replaces, stated),
        )


def _count_unsupported(origin: Origin) -> None:
    UNSUPPORTED.add(1, {})
    log.info(
        "A statement of the model that was not said in %s is dropped.",
        origin.invocation_id or origin.source,
        extra={"user": origin.scope.user, "collection": origin.scope.collection},
    )


def _store_fact(
    origin: Origin,
    content: str,
    quote: str,
    *,
    kind: FactKind = "semantic",
    subject: str = "",
    attribute: str = "",
    replaces: tuple[str, ...] = (),
) -> StoreFactRequest:
    dates = relative_dates(content, origin.said_at)
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
        metadata={**origin.metadata, **({"dates": {**dates}} if dates else {})},
        replaces=replaces,
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
    """The command that stores an episode; its id is made from the run, or the conversation.

    Orders to the assistant are left out of what is told of it, but not of the goal: that is what
    was asked for, and by it the episode is found. Where it is shown it is without them too.
    """
    made_from = [*origin.scope, origin.source, origin.invocation_id]
    return StoreEpisodeRequest(
        user=origin.scope.user,
        collection=origin.scope.collection,
        episode_id=str(uuid.uuid5(_NAMESPACE, json.dumps(made_from))),
        goal=shorten(goal, _MAX_TEXT),
        steps=tuple(
            shorten(step, _MAX_STEP) for step in steps[:MAX_STEPS] if not is_order_in_step(step)
        ),
        outcome=_without_orders(outcome),
        lessons=_without_orders(lessons),
        result=result,
        source=origin.source,
        invocation_id=origin.invocation_id,
        timestamp=ended_at,
        said_at=origin.said_at,
        metadata=origin.metadata,
    )


def _without_orders(text: str) -> str:
    return without_orders(shorten(text, _MAX_TEXT))


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
