"""Method `statements`: the common half of the ways to learn by rule. No model is asked."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from fourtier.memory.learning.commands import fact_of_statement
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.extraction_rules import (
    Statement,
    statements_in_dialogue,
    statements_to_agent,
)
from fourtier.models.text.instructions import is_forged, is_order_to_assistant
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

Experience = TypeVar("Experience")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said in one message.

    Attributes:
        in_dialogue: whether it was said to people, and not to the agent.
    """

    origin: Origin
    text: str
    in_dialogue: bool


class StatementsMethod(ABC, Generic[Experience]):
    """Base of a method by rule.

    Args:
        service: whose name the metric of rejected statements has.
        max_statements: how many facts one utterance may give.
        max_facts: how many facts an experience of several utterances may give.
    """

    def __init__(self, service: str, max_statements: int, max_facts: int) -> None:
        self._service = service
        self._max_statements = max_statements
        self._max_facts = max_facts

    async def learn(self, experience: Experience) -> Learned:
        """Find statements and the episode; in a thread, for a long text takes its time."""
        return await asyncio.to_thread(self._learn, experience)

    def _learn(self, experience: Experience) -> Learned:
        found = (fact for said in self.utterances(experience) for fact in self._facts(said))
        facts = limited(chain(found, self.others(experience)), self._max_facts, self._service)
        return Learned(tuple(facts), self.episode(experience))

    def _facts(self, said: Utterance) -> list[StoreFactRequest]:
        if is_forged(said.text):
            return []
        find = statements_in_dialogue if said.in_dialogue else statements_to_agent
        facts = (
            fact_of_statement(said.origin.of_statement(number), each)
            for number, each in enumerate(find(said.text))
            if self.lasts(each) and not self._is_order(each, said)
        )
        return limited(facts, self._max_statements, self._service)

    @staticmethod
    def _is_order(statement: Statement, said: Utterance) -> bool:
        # What is taken for granted in a question stands in a sentence that asks something of "you".
        return is_order_to_assistant(
            statement.content, between_people=said.in_dialogue
        ) or is_order_to_assistant(statement.quote, between_people=True)

    @abstractmethod
    def utterances(self, experience: Experience) -> Iterator[Utterance]:
        """What was said that may hold facts."""

    def others(self, experience: Experience) -> Iterator[StoreFactRequest]:  # noqa: ARG002 - for subclasses
        """Facts besides those of utterances."""
        return iter(())

    @abstractmethod
    def episode(self, experience: Experience) -> StoreEpisodeRequest | None:
        """The episode, where there is one to tell."""

    def lasts(self, statement: Statement) -> bool:  # noqa: ARG002 - for subclasses
        """Whether a statement is worth storing."""
        return True
