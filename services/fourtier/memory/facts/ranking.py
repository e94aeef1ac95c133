"""The order of an answer whose facts contradict each other."""

from collections.abc import Mapping, Sequence

from fourtier.memory.facts.records import FactRecord


def successors_first(
    found: Sequence[tuple[FactRecord, float]], others: Mapping[str, FactRecord]
) -> list[tuple[FactRecord, float]]:
    """What was found, best first, with each superseded fact behind those that superseded it.

    Where an old statement is what the query hits best, the one that is valid now comes first even
    if it was not found itself: a search for "my first budget" finds both, the present one above.
    `others` are the facts of the slots that superseded facts are in.
    """
    wanted = {fact.id for fact, _ in found}
    ordered: dict[str, tuple[FactRecord, float]] = {}
    for fact, score in found:
        line = [fact]
        last = fact
        while (after := others.get(last.superseded_by)) is not None:
            if after.valid or after.id in wanted:
                line.append(after)
            last = after
        for each in reversed(line):
            ordered.setdefault(each.id, (each, score))
    return list(ordered.values())


def newer_first(found: Sequence[tuple[FactRecord, float]]) -> list[tuple[FactRecord, float]]:
    """What was found, best first; of two facts that may contradict each other the newer one first.

    The newer one moves up to where the older one stands, and takes its score: nothing else moves.
    """
    ordered = list(found)
    for newer, older in _conflicts([fact for fact, _ in found]):
        ids = [fact.id for fact, _ in ordered]
        here, above = ids.index(newer), ids.index(older)
        if above < here:
            fact, _ = ordered.pop(here)
            ordered.insert(above, (fact, ordered[above][1]))
    return ordered


def _conflicts(facts: Sequence[FactRecord]) -> list[tuple[str, str]]:
    """The ids of the newer and the older one of each two that may contradict each other."""
    by_id = {fact.id: fact for fact in facts}
    return [
        (fact.id, other)
        for fact in sorted(facts, key=lambda fact: (fact.stated_at, fact.id))
        for other in fact.conflicts
        if other in by_id and by_id[other].stated_at < fact.stated_at
    ]
