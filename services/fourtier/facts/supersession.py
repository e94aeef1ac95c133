"""Which statements are about the same thing, and which of them is valid.

A slot is a thing that has one value at a time, such as somebody's budget for a trip. The facts of a
slot form a timeline in the order in which they were stated, whatever the order they arrived in, so
that writing a fact again, or writing facts in another order, ends in the same state.
"""

from collections.abc import Sequence
from dataclasses import replace

from fourtier.facts.records import OPEN, FactRecord
from fourtier.facts.statement import parse, same_thing


def find_slot(new: FactRecord, candidates: Sequence[FactRecord]) -> str:
    """The slot of the first candidate that is about the same thing; a slot of its own otherwise.

    `candidates` are facts of the same scope, most similar first.
    """
    if new.subject and new.attribute:
        for old in candidates:
            if (old.subject, old.attribute) == (new.subject, new.attribute):
                return old.slot
    statement = parse(new.content, new.speaker)
    if statement is not None:
        for old in candidates:
            other = parse(old.content, old.speaker)
            if other is not None and same_thing(statement, other):
                return old.slot
    return new.slot


def timeline(facts: Sequence[FactRecord]) -> list[FactRecord]:
    """The facts of one slot with their validity set: all but the newest are superseded."""
    ordered = sorted(facts, key=lambda fact: (fact.stated_at, fact.id))
    newer = [*ordered[1:], None]
    return [
        replace(
            fact,
            valid_until=after.stated_at if after else OPEN,
            superseded_by=after.id if after else "",
        )
        for fact, after in zip(ordered, newer, strict=True)
    ]
