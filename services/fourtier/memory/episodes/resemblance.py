"""Which episodes are of the same goal, by the words of all that they tell.

Goals alone do not say it: "I'd like to cancel my reservation" is what many people want, and the
names and numbers in the steps tell whose, and which. So the words that two episodes share are
weighed against all that either has, those that few of the episodes have counting more.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.episodes.records import searchable_text
from fourtier.schema.episodes import Episode

#: From here on two are of the same goal. Of tau-bench's trials, on the half for choices, 73 % of
#: such pairs are of one task, and all of one customer, of whom there are several tasks.
SAME_GOAL = 0.35


class Resemblance:
    """How much the episodes of an answer resemble each other."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._terms: Mapping[str, frozenset[int]] = {
            each.id: terms(searchable_text(each)) for each in episodes
        }
        number = len(self._terms)
        having = Counter(term for some in self._terms.values() for term in some)
        self._weight = {term: math.log(1 + number / count) for term, count in having.items()}
        self._whole = {name: self._sum(some) for name, some in self._terms.items()}

    def between(self, one: Episode, other: Episode) -> float:
        """From 0, nothing in common, to 1, the same words."""
        shared = self._sum(self._terms[one.id] & self._terms[other.id])
        either = self._whole[one.id] + self._whole[other.id] - shared
        return shared / either if either else 0.0

    def same_goal(self, one: Episode, other: Episode) -> bool:
        """Whether both are of the same goal."""
        return self.between(one, other) >= SAME_GOAL

    def _sum(self, some: frozenset[int]) -> float:
        return math.fsum(self._weight[term] for term in some)
