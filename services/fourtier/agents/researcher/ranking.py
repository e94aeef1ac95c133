"""Which of the entries that were found are handed over, and in which order.

One after another that entry is taken which is most relevant to the question, has the most of its
words that those before it lack, rare words counting more, and shares a rare name with one of the
first: the second step of a question is often about a name that only the first step's entry has.
`docs/recall.md` says on what the numbers below were chosen, and what they give.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fourtier.agents.researcher.candidates import Candidate, Pool
from fourtier.agents.researcher.words import Question
from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.names import Name, Terms


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts besides relevance, which has 1."""

    coverage: float
    link: float


#: A document speaks in whole sentences about things that have names. A turn does not repeat what
#: its listener knows, and the names in it are those of the people who talk.
DOCUMENT = Weights(coverage=1.2, link=1.0)
TURN = Weights(coverage=0.3, link=0.3)
#: Entries at the front of the ranking whose names others may be linked by.
_LINKING = 3
#: A shared name counts in full when it is as rare as so many words that are nowhere else; the name
#: that a document is about, in another one, when it is as rare as one such word.
_RARE_NAME, _RARE_TITLE = 2.0, 1.0
#: What such a name counts that a fact has brought up, which no entry says.
_BY_FACT = 0.5


@dataclass(frozen=True, slots=True)
class Link:
    """By which name an entry belongs to one before it; the strength is from 0 to 1.

    Or to what is asked for, where a fact says that the name does; then `to` is empty.
    """

    strength: float
    to: str = ""
    name: str = ""
    fact_id: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry in its place. `adds` are the question's words that those before it lack."""

    candidate: Candidate
    score: float
    adds: Terms
    link: Link


_NO_LINK = Link(0.0)


def rank(question: Question, pool: Pool, number: int) -> list[Ranked]:
    """The best entries of a pool, best first.

    Args:
        question: what is asked for.
        pool: what was found.
        number: of entries that are wanted.
    """
    left = sorted(pool, key=lambda each: (-each.score, each.entry.id))
    relevance, links = _relevance(left), _Links(question, pool)
    weight = {stem: pool.rarity(stem) for stem in question.terms}
    total = sum(weight.values()) or 1.0
    covered: set[int] = set()
    ranked: list[Ranked] = []

    def score(each: Candidate) -> float:
        weights = DOCUMENT if each.title else TURN
        adds = (question.terms & each.terms) - covered
        coverage = sum(weight[stem] for stem in adds) / total
        link = links.of(each).strength
        return relevance[each.entry.id] + weights.coverage * coverage + weights.link * link

    while left and len(ranked) < number:
        scores = [score(each) for each in left]
        place = scores.index(max(scores))
        best = left.pop(place)
        adds = frozenset((question.terms & best.terms) - covered)
        ranked.append(Ranked(best, scores[place], adds, links.of(best)))
        covered |= adds
        if len(ranked) <= _LINKING:
            links.follow(best, relevance[best.entry.id], left)
    return ranked


class _Links:
    """By which names entries belong to those that were taken before them."""

    def __init__(self, question: Question, pool: Pool) -> None:
        self._asked = question.terms
        self._pool = pool
        self._links: dict[str, Link] = {}

    def of(self, candidate: Candidate) -> Link:
        """The strongest link of an entry."""
        link = self._links.get(candidate.entry.id, _NO_LINK)
        by_fact = self._by_fact(candidate)
        return by_fact if by_fact.strength > link.strength else link

    def _by_fact(self, candidate: Candidate) -> Link:
        search = candidate.by_fact
        if search is None:
            return _NO_LINK
        rarity = self._pool.share_of_rarest(terms(search.name), _RARE_NAME)
        return Link(_BY_FACT * rarity, name=search.name, fact_id=search.fact_id)

    def follow(self, first: Candidate, relevance: float, others: Sequence[Candidate]) -> None:
        """Link others to one that was taken: the more relevant that is, the more strongly."""
        for other in others:
            strength, name = self._shared(first, other)
            strength *= 0.5 + 0.5 * relevance
            if strength > self._links.get(other.entry.id, _NO_LINK).strength:
                self._links[other.entry.id] = Link(strength, first.entry.id, name)

    def _shared(self, one: Candidate, other: Candidate) -> tuple[float, str]:
        """How strongly names join two entries, from 0 to 1, and by which one most."""
        of_other = {name.terms for name in other.names}
        shared = self._rarest(
            [name for name in one.names if name.terms in of_other], words=_RARE_NAME
        )
        if not (one.title or other.title):
            return shared
        mentioned = [
            about.title
            for about, text in ((one, other), (other, one))
            if about.title and about.title.terms <= text.terms
        ]
        title = self._rarest(mentioned, words=_RARE_TITLE)
        return (shared[0] + title[0]) / 2, title[1] or shared[1]

    def _rarest(self, names: Sequence[Name], words: float) -> tuple[float, str]:
        """The rarest of names that the question does not have itself, and how rare it is."""
        rarities = [
            (self._pool.share_of_rarest(name.terms, words), name.text)
            for name in names
            if not name.terms <= self._asked
        ]
        return max(rarities, default=(0.0, ""))


def _relevance(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Scores of the search for the whole question, from 0 to 1."""
    scores = [each.score for each in candidates]
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    width = highest - lowest or 1.0
    return {each.entry.id: (each.score - lowest) / width for each in candidates}
