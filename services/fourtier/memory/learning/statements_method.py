"""Method `statements`: the common half of the ways to learn by rule. No model is asked."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from fourtier.memory.learning.commands import fact_of_statement
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.extraction_rules import (
    Statement,
    statements_in_dialogue,
    statements_to_agent,
)
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
        facts = limited(found, self._max_facts, self._service)
        return Learned(tuple(facts), self.episode(experience))

    def _facts(self, said: Utterance) -> list[StoreFactRequest]:
        find = statements_in_dialogue if said.in_dialogue else statements_to_agent
        facts = (
            fact_of_statement(said.origin, each) for each in find(said.text) if self.lasts(each)
        )
        return limited(facts, self._max_statements, self._service)

    @abstractmethod
    def utterances(self, experience: Experience) -> Iterator[Utterance]:
        """What was said that may hold facts."""

    @abstractmethod
    def episode(self, experience: Experience) -> StoreEpisodeRequest | None:
        """The episode, where there is one to tell."""

    def lasts(self, statement: Statement) -> bool:  # noqa: ARG002 - for subclasses
        """Whether a statement is worth storing."""
        return True
