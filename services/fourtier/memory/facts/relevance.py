"""Which facts are about something: a search that leaves out what is only the nearest of the rest.

A ranking always has a first place. Before something is forgotten that is not enough: what is shown
must be about what was asked for. A fact is, when it has most of the words of the query, rare words
counting more; or when its meaning is near the query's, and about as near as that of the nearest.

Seen with 43 queries over the statements of LoCoMo (`python -m bench.forgetting`), ten facts being
shown at most: on the half on which the three numbers below were chosen 75 % of what is shown is
about the query, and 81 % of what is about it is shown; on the other half 84 % and 70 %. Of the ten
nearest facts by meaning 31 % and 42 % are, and they have 86 % of it on both.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.graph import FactGraph
from fourtier.memory.facts.index import FactIndex
from fourtier.memory.facts.records import FactRecord
from fourtier.schema.message import Scope

#: Share of the query's words, weighted, that a fact has.
MIN_COVERAGE = 0.55
#: A fact's similarity as a share of the nearest one's.
MIN_SHARE = 0.9
#: Cosine below which a meaning is another; an embedding model of its own wants its own.
MIN_SIMILARITY = 0.4
#: Where nothing is so near: a cosine as a share of that, and how many times that of the tenth fact.
OUTSTANDING_SHARE, OUTSTANDING = 0.75, 1.6
_REST = 9
#: Facts that are looked at for their meaning.
_NEAREST = 50
_PAGE = 1_000


class Relevance:
    """Finds the facts that are about something; superseded ones too."""

    def __init__(self, graph: FactGraph, index: FactIndex) -> None:
        self._graph = graph
        self._index = index

    async def about(
        self, scope: Scope, query: str, min_similarity: float
    ) -> list[tuple[FactRecord, float]]:
        """The facts with their scores, best first."""
        hits = await self._index.similar(scope, query, _NEAREST)
        similar = {hit.id: hit.similarity or 0.0 for hit in hits}
        facts = [fact async for fact in self._graph.every(scope, _PAGE)]
        scored = await asyncio.to_thread(relevant, query, facts, similar, min_similarity)
        by_id = {fact.id: fact for fact in facts}
        best = sorted(scored, key=lambda name: (-scored[name], name))
        return [(by_id[name], scored[name]) for name in best]


def relevant(
    query: str,
    facts: Sequence[FactRecord],
    similar: Mapping[str, float],
    min_similarity: float = MIN_SIMILARITY,
) -> dict[str, float]:
    """The facts that are about a query, each by its id with a score from 0 to 2.

    Args:
        query: what they are to be about.
        facts: all of a scope: how rare a word is depends on all of them.
        similar: the cosines of those that are near in meaning.
        min_similarity: from which a fact counts that has none of the words.
    """
    coverage = _coverage(query, facts)
    words = {name for name, share in coverage.items() if share >= MIN_COVERAGE}
    found = words | _near(similar, min_similarity) or _outstanding(similar, min_similarity)
    return {
        fact.id: coverage[fact.id] + similar.get(fact.id, 0.0) for fact in facts if fact.id in found
    }


def _near(similar: Mapping[str, float], least: float) -> set[str]:
    """Those that are near, and about as near as the nearest."""
    least = max(least, MIN_SHARE * max(similar.values(), default=0.0))
    return {name for name, value in similar.items() if value >= least}


def _outstanding(similar: Mapping[str, float], least: float) -> set[str]:
    """What is less near, as "my address" and "I live at 12 Elm Street", but far before the rest."""
    ranked = sorted(similar.values(), reverse=True)
    rest = ranked[_REST] if len(ranked) > _REST else 0.0
    if not ranked or ranked[0] < rest * OUTSTANDING:
        return set()
    return _near(similar, least * OUTSTANDING_SHARE)


def _coverage(query: str, facts: Sequence[FactRecord]) -> dict[str, float]:
    """Of each fact how much of the query's words it has, from 0 to 1.

    The name of whoever said it does not count, unless nothing else is asked for.
    """
    wanted = terms(query)
    names = {stem for speaker in {fact.speaker for fact in facts} for stem in terms(speaker)}
    said = {fact.id: terms(fact.content) for fact in facts}
    if wanted - names:
        wanted -= names
    else:
        said = {fact.id: said[fact.id] | terms(fact.speaker) for fact in facts}
    number = len(facts)
    found = Counter(stem for stems in said.values() for stem in stems & wanted)
    weights = {
        stem: math.log(1 + (number - found[stem] + 0.5) / (found[stem] + 0.5)) for stem in wanted
    }
    total = sum(weights.values())
    return {
        name: sum(weights[stem] for stem in stems & wanted) / total if total else 0.0
        for name, stems in said.items()
    }
