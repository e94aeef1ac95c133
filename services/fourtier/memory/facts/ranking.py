"""The order of an answer that has superseded facts in it."""

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
