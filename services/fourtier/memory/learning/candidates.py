"""What is known already, as a model is shown it: numbered, so that it never handles an id."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.text import normalised, shorten
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.facts import RETRIEVE_FACTS, Fact, RetrieveFactsRequest
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

#: Characters of the text by which candidates are found, and of one that is shown.
_MAX_QUERY, _MAX_SHOWN = 1_000, 300
#: Seconds after which a model is asked without candidates.
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """Valid facts of one scope, the most similar first; the model knows them by their numbers."""

    facts: Sequence[Fact] = ()

    def shown(self) -> str:
        """A numbered line for each: when and by whom it was said, and what."""
        return "\n".join(
            f"{number}. {fact.timestamp:%Y-%m-%d} {fact.speaker}: {_line(fact)}"
            for number, fact in enumerate(self.facts, start=1)
        )

    def replaced(self, numbers: Iterable[int], origin: Origin) -> tuple[str, ...]:
        """The ids of those that a statement of this origin may replace.

        That are facts of the same speaker that were stated before it. A number that names no
        candidate is left out, as is one of a fact that may not be replaced.
        """
        named = dict.fromkeys(number for number in numbers if 0 < number <= len(self.facts))
        facts = [self.facts[number - 1] for number in named]
        return tuple(
            fact.id
            for fact in facts
            if fact.timestamp < origin.said_at
            and _person(origin.scope, fact.speaker) == _person(origin.scope, origin.speaker)
        )


async def find_candidates(caller: Caller, scope: Scope, text: str, number: int) -> Candidates:
    """The facts of a scope that are most similar to a text; none where they cannot be had.

    To learn without them is better than not to learn: what is said twice is one fact all the same,
    and the facts service finds by itself what most statements supersede.
    """
    if number == 0 or not (query := shorten(text, _MAX_QUERY)):
        return Candidates()
    request = RetrieveFactsRequest(
        user=scope.user, collection=scope.collection, query=query, top_k=number
    )
    try:
        async with asyncio.timeout(_SECONDS):
            return Candidates((await caller.call(RETRIEVE_FACTS, request)).facts)
    except (TimeoutError, FourtierError) as error:
        log.warning("The model is asked without what is known: %s", error or "no answer in time")
        return Candidates()


def _line(fact: Fact) -> str:
    return shorten(fact.content, _MAX_SHOWN)


def _person(scope: Scope, speaker: str) -> str:
    """Who it is that spoke: the user, where nothing else is said."""
    name = normalised(speaker)
    return normalised(scope.user) if name in {"", "user"} else name
