"""Finding what leaves older statements untrue, beyond what the rules read in the words.

A fact is stored first and compared afterwards, so that no write waits for the model, or fails with
it. Candidates come from the index: what the same person has said that is similar. A model compares
the two, each as the older one, because what is told of later may have been said before. So the
order in which statements arrive changes nothing; which of the two is the newer one is seen when
they are resolved.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from fourtier.memory.facts.detector import Detector
from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.identity import owner_of
from fourtier.memory.facts.index import FactIndex, text_of
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.supersession import has_happened
from fourtier.memory.facts.worth_comparing import are_worth_comparing
from fourtier.schema.message import Scope, Vector

#: Of a statement that many, the most similar ones, are compared with it.
_CANDIDATES = 20
#: Characters of a statement; what is longer says several things.
_LONGEST = 400
#: Of probabilities that are stored: what two runs of the model differ by is not one.
_DIGITS = 4
#: Pairs in one call.
_PAIRS_AT_ONCE = 512

_Pair = tuple[ScopedFact, ScopedFact]


@dataclass
class Detected:
    """What was detected of some new facts.

    Attributes:
        contradicts: by id, the facts that a fact leaves untrue where it is the newer one, each with
            its probability.
        doubts: by id, the facts that may contradict a fact; each of the two has the other.
        others: by id, the facts of which something was detected that are not new.
    """

    contradicts: defaultdict[str, dict[str, float]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    doubts: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    others: Mapping[str, ScopedFact] = field(default_factory=dict)

    def add(self, older: ScopedFact, newer: ScopedFact, probability: float, *, sure: float) -> None:
        """Note two of which one may leave the other untrue."""
        self.doubts[newer.fact.id].add(older.fact.id)
        self.doubts[older.fact.id].add(newer.fact.id)
        if probability >= sure:
            self.contradicts[newer.fact.id][older.fact.id] = round(probability, _DIGITS)

    def has(self, fact_id: str) -> bool:
        """Whether something was detected of a fact."""
        return fact_id in self.doubts

    def applied(self, facts: Mapping[str, ScopedFact]) -> dict[str, ScopedFact]:
        """The facts with what was detected of them; all others as they are."""
        return {name: self._applied(each) for name, each in facts.items()}

    def _applied(self, scoped: ScopedFact) -> ScopedFact:
        name = scoped.fact.id
        if not self.has(name):
            return scoped
        compared = scoped.fact.compared(self.contradicts.get(name, {}), self.doubts[name])
        return replace(scoped, fact=compared)


class Detection:
    """Compares new facts with those that are similar."""

    def __init__(self, graph: FactGraph, index: FactIndex, detector: Detector | None) -> None:
        self._graph = graph
        self._index = index
        self._detector = detector

    def wants(self, scoped: ScopedFact) -> bool:
        """Whether a fact is to be compared."""
        comparable = _is_said_by_user(scoped) and len(scoped.fact.content) <= _LONGEST
        return self._detector is not None and comparable

    async def find(self, new: Mapping[str, ScopedFact]) -> Detected:
        """Compare new facts with those that are similar, and with each other.

        Raises: what the index and the model raise.
        """
        compared = [each for each in new.values() if self.wants(each)]
        if self._detector is None or not compared:
            return Detected()
        embedded = await self._index.embedded(compared)
        vectors = [embedded[text_of(each.fact)] for each in compared]
        pairs = [
            *await self._with_stored(self._detector, compared, vectors),
            *_among(self._detector, compared, vectors),
        ]
        both_ways = [
            (older, newer)
            for one, other in pairs
            if are_worth_comparing(one.fact.content, other.fact.content)
            for older, newer in ((one, other), (other, one))
            if not has_happened(older.fact)
        ]
        probabilities = await self._compare(self._detector, both_ways)
        found = Detected()
        for (older, newer), probability in zip(both_ways, probabilities, strict=True):
            if probability >= self._detector.min_doubt:
                found.add(older, newer, probability, sure=self._detector.min_probability)
        found.others = {
            name: each
            for pair in pairs
            for each in pair
            if (name := each.fact.id) not in new and found.has(name)
        }
        return found

    async def _with_stored(
        self, detector: Detector, new: Sequence[ScopedFact], vectors: Sequence[Vector]
    ) -> list[_Pair]:
        """Each new fact with those that the index has."""
        hits = await asyncio.gather(
            *(
                self._index.near(each.scope, vector, _CANDIDATES)
                for each, vector in zip(new, vectors, strict=True)
            )
        )
        similar = [
            (each, hit.id)
            for each, found in zip(new, hits, strict=True)
            for hit in found
            if (hit.similarity or 0.0) >= detector.min_similarity
        ]
        stored = await self._graph.by_ids({name: each.scope for each, name in similar})
        return [
            (each, ScopedFact(each.scope, stored[name]))
            for each, name in similar
            if name in stored and _is_comparable(each.fact, stored[name])
        ]

    async def _compare(self, detector: Detector, pairs: Sequence[_Pair]) -> list[float]:
        probabilities: list[float] = []
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            texts = [(older.fact.content, newer.fact.content) for older, newer in some]
            probabilities += await detector.contradict(texts)
        return probabilities


def _among(
    detector: Detector, new: Sequence[ScopedFact], vectors: Sequence[Vector]
) -> Iterator[_Pair]:
    """New facts of one scope with each other."""
    by_scope: defaultdict[Scope, list[int]] = defaultdict(list)
    for number, each in enumerate(new):
        by_scope[each.scope].append(number)
    for numbers in by_scope.values():
        if len(numbers) == 1:
            continue
        rows = np.array([vectors[number].floats() for number in numbers], np.float32)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = unit @ unit.T
        for first, second in combinations(range(len(numbers)), 2):
            one, other = new[numbers[first]], new[numbers[second]]
            similar = cosines[first, second] >= detector.min_similarity
            if similar and _is_comparable(one.fact, other.fact):
                yield one, other


def _is_said_by_user(scoped: ScopedFact) -> bool:
    """Whether a statement is what the user told the agent.

    People among themselves repeat what they feel and what they mean to do in ever other words, of
    which the model takes some for changes.
    """
    return owner_of(scoped.scope, scoped.fact.speaker) == owner_of(scoped.scope, "")


def _is_comparable(one: FactRecord, other: FactRecord) -> bool:
    """Whether one person has said both, of one kind."""
    return (
        one.id != other.id
        and one.speaker == other.speaker
        and one.kind == other.kind
        and len(other.content) <= _LONGEST
    )
