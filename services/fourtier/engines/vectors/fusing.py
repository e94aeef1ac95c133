"""What becomes of several legs' hits, where the engines do not do it themselves."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fourtier.engines.vectors.points import ranks
from fourtier.runtime.service.stores.query import Group
from fourtier.runtime.service.stores.vectors import Found, Hit


def min_max(found: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Hit]:
    """Fuse what legs found, by name, by the weighted sum of their scores; best first.

    Each leg's scores are brought to the range from 0 to 1. Of those that are all the same nothing
    can be told but that they were found: they count as 1.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    hits: dict[str, Hit] = {}
    for name, of_leg in found.items():
        low = min((each.score for each in of_leg), default=0.0)
        span = max((each.score for each in of_leg), default=0.0) - low
        for each in of_leg:
            scores[each.id] += weights[name] * ((each.score - low) / span if span else 1.0)
            hits.setdefault(each.id, each)
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return [replace(hits[name], score=scores[name], similarity=None) for name in ordered]


def explained(fused: Sequence[Hit], found: Mapping[str, Sequence[Hit]]) -> list[Hit]:
    """Hits with how each leg, by name, found them."""
    by_leg = {name: ranks(of_leg) for name, of_leg in found.items()}
    return [replace(each, legs=_legs_of(each.id, by_leg)) for each in fused]


def _legs_of(identity: str, by_leg: Mapping[str, Mapping[str, Found]]) -> dict[str, Found]:
    return {name: found[identity] for name, found in by_leg.items() if identity in found}


def grouped(found: Sequence[Hit], group: Group) -> list[Hit]:
    """The best of each group; a point without one value in the field is a group of its own."""
    numbers: Counter[str | int] = Counter()
    retained: list[Hit] = []
    for each in found:
        value = each.payload.get(group.field)
        if value is None or isinstance(value, list):
            retained.append(each)
            continue
        numbers[value] += 1
        if numbers[value] <= group.size:
            retained.append(each)
    return retained
