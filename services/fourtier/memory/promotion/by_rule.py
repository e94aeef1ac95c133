"""Method `statements`: what was stated of lasting worth, and the course of the talk. No model.

The facts are those that extraction makes of the same words, so what it has kept already stays one
fact; promotion catches what it was told to leave to the end of the conversation.
"""

import re
from collections.abc import Iterator, Sequence

from fourtier.memory.promotion.promoting import LEAST_INVOCATIONS, Promoted
from fourtier.memory.promotion.record import (
    is_turn,
    origin_of,
    origin_of_whole,
    outcome_of,
    steps_of,
    theme,
)
from fourtier.memory.statements.keeping import episode, fact_of_statement
from fourtier.memory.statements.kinds import words
from fourtier.memory.statements.stated import Statement, statements_in_dialogue, statements_to_agent
from fourtier.memory.statements.vocabulary import SPEAKER
from fourtier.schema.conversations import ConversationEnded, InvocationSummary
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

#: A number, or a name inside of the sentence.
_CONCRETE = re.compile(r"\d|(?<=[\w,;] )[A-Z][\w'-]*[a-z]")


class StatementsMethod:
    """Promotes by rule; `most_steps` bounds how long an episode gets."""

    def __init__(self, most_steps: int) -> None:
        self._most_steps = most_steps

    async def promote(
        self, event: ConversationEnded, invocations: Sequence[InvocationSummary]
    ) -> Promoted:
        """Find facts and the episode."""
        return Promoted(tuple(_facts(event, invocations)), self._episode(event, invocations))

    def _episode(
        self, event: ConversationEnded, invocations: Sequence[InvocationSummary]
    ) -> StoreEpisodeRequest | None:
        goal = theme(invocations)
        if not goal or len(invocations) < LEAST_INVOCATIONS:
            return None
        return episode(
            origin_of_whole(event, invocations),
            ended_at=invocations[-1].timestamp,
            goal=goal,
            steps=steps_of(invocations, self._most_steps),
            outcome=outcome_of(invocations),
        )


def _facts(
    event: ConversationEnded, invocations: Sequence[InvocationSummary]
) -> Iterator[StoreFactRequest]:
    for invocation in invocations:
        read = statements_in_dialogue if is_turn(invocation) else statements_to_agent
        origin = origin_of(event, invocation)
        for statement in read(invocation.query):
            if _lasts(statement):
                yield fact_of_statement(origin, statement)


def _lasts(statement: Statement) -> bool:
    """Whether it is about the speaker, says something definite, or was asked to be kept."""
    return (
        statement.asked_for
        or bool(SPEAKER.intersection(words(statement.content)))
        or bool(_CONCRETE.search(statement.content))
    )
