"""Method `statements`: what was stated of lasting worth, and the course of the talk. No model.

The facts are those that extraction makes of the same words, so what it has stored already stays one
fact; promotion catches what a record has and extraction did not see.
"""

import re
from collections.abc import Iterator

from fourtier.memory.learning.commands import episode
from fourtier.memory.learning.origin import is_turn, origin_of_invocation
from fourtier.memory.learning.statements_method import StatementsMethod, Utterance
from fourtier.memory.promotion.conversation import Conversation
from fourtier.memory.promotion.record import outcome_of, steps_of, theme
from fourtier.memory.statements.extraction_rules import Statement
from fourtier.memory.statements.sentence_kinds import words
from fourtier.memory.statements.vocabulary import SPEAKER
from fourtier.schema.episodes import StoreEpisodeRequest

#: A number, or a name inside of the sentence.
_CONCRETE = re.compile(r"\d|(?<=[\w,;] )[A-Z][\w'-]*[a-z]")


class PromotionByRule(StatementsMethod[Conversation]):
    """Promotes by rule; `max_steps` bounds how long an episode gets."""

    def __init__(self, service: str, max_statements: int, max_facts: int, max_steps: int) -> None:
        super().__init__(service, max_statements, max_facts)
        self._max_steps = max_steps

    def utterances(self, experience: Conversation) -> Iterator[Utterance]:
        """What was said in each invocation of which facts are wanted."""
        for invocation in experience.invocations:
            if not invocation.extract_facts:
                continue
            origin = origin_of_invocation(experience.event, invocation)
            yield Utterance(origin, invocation.query, in_dialogue=is_turn(invocation))

    def lasts(self, statement: Statement) -> bool:
        """Whether it is about the speaker, is definite, or was asked to be remembered."""
        return (
            statement.asked_for
            or bool(SPEAKER.intersection(words(statement.content)))
            or bool(_CONCRETE.search(statement.content))
        )

    def episode(self, experience: Conversation) -> StoreEpisodeRequest | None:
        """What it was about, how it went and how it ended; None for small talk."""
        invocations = experience.invocations
        goal = theme(invocations)
        if not goal or not experience.wants_episode:
            return None
        return episode(
            experience.origin,
            ended_at=invocations[-1].timestamp,
            goal=goal,
            steps=steps_of(invocations, self._max_steps),
            outcome=outcome_of(invocations),
        )
