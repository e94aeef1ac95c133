"""The names that facts mention, as a small graph that the index has.

Two names are neighbours where a valid fact mentions both.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourtier.memory.facts.graph import ScopedFact
from fourtier.memory.facts.index import FactIndex
from fourtier.memory.facts.mentions import mentioned, mentions_any
from fourtier.memory.facts.records import FactRecord
from fourtier.models.text.proper_names import name_key
from fourtier.runtime.service.stores.vectors import Facet
from fourtier.schema.message import Scope


@dataclass(frozen=True, slots=True)
class CountedName:
    """A name as it is written most often, and how many valid facts mention it."""

    name: str
    facts: int


async def list_names(
    index: FactIndex,
    scope: Scope,
    limit: int,
    with_name: str = "",
    *,
    without: Iterable[FactRecord] = (),
) -> list[CountedName]:
    """Names that valid facts mention, the most frequent first.

    Args:
        index: of the facts.
        scope: whose facts.
        limit: how many names at most.
        with_name: only those that are mentioned together with this one, and not itself.
        without: facts that do not count although they are stored.
    """
    beside = name_key(with_name)
    facets = await index.names(scope, beside)
    left_out = [
        ScopedFact(scope, fact)
        for fact in without
        if fact.valid and mentions_any(scope, fact, [beside] if beside else [])
    ]
    return _counted(facets, left_out, beside, limit)


def _counted(
    facets: Sequence[Facet], without: Iterable[ScopedFact], besides: str, limit: int
) -> list[CountedName]:
    """Names with the number of facts that mention them, the most frequent first.

    Args:
        facets: how often each written form comes, the most frequent first; none twice in a fact.
        without: facts that are among these and are not to be counted.
        besides: the key of a name that is left out.
        limit: how many names at most.
    """
    numbers: Counter[str] = Counter()
    written: dict[str, str] = {}
    for each in facets:
        key = name_key(each.value)
        numbers[key] += each.number
        written.setdefault(key, each.value)
    for fact in without:
        numbers.subtract(dict.fromkeys(mentioned(fact), 1))
    ordered = sorted(numbers, key=lambda key: (-numbers[key], key))
    return [
        CountedName(written[key], numbers[key])
        for key in ordered
        if numbers[key] > 0 and key != besides
    ][:limit]
