"""The validity of facts of any scopes, slot by slot."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fourtier.memory.facts.graph import ScopedFact
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.replacements import Named
from fourtier.memory.facts.supersession import possible_conflicts, resolve_validity, superseded
from fourtier.schema.message import Scope

#: Of a slot's valid facts that many, the newest, are compared with each other for conflicts.
_COMPARED = 50


def resolve_slots(
    facts: Mapping[str, ScopedFact], replacing: Mapping[Named, Sequence[FactRecord]]
) -> list[ScopedFact]:
    """All of the facts with their validity and their possible conflicts.

    Args:
        facts: all that their slots hold.
        replacing: of a fact those that name it as superseded by them.
    """
    by_slot: defaultdict[tuple[Scope, str], list[FactRecord]] = defaultdict(list)
    for each in facts.values():
        alone = "" if each.fact.slot else each.fact.id
        by_slot[each.scope, each.fact.slot or alone].append(each.fact)
    return [
        ScopedFact(scope, fact)
        for (scope, _), records in by_slot.items()
        for fact in _with_conflicts(_resolved(scope, records, replacing))
    ]


def _resolved(
    scope: Scope, slot: Sequence[FactRecord], replacing: Mapping[Named, Sequence[FactRecord]]
) -> list[FactRecord]:
    """Each is valid until the first that supersedes it, by its words or by naming it."""
    by_words = resolve_validity(slot)
    records = {fact.id: fact for fact in by_words}
    resolved: list[FactRecord] = []
    for fact in by_words:
        naming = replacing.get(Named(scope, fact.id), ())
        by = [
            each
            for each in naming
            if each.stated_at > fact.stated_at and _supersedes_by_name(each, fact)
        ]
        if by and fact.superseded_by:
            by.append(records[fact.superseded_by])
        first = min(by, key=lambda each: (each.stated_at, each.id), default=None)
        resolved.append(fact if first is None else superseded(fact, first))
    return resolved


def _supersedes_by_name(newer: FactRecord, older: FactRecord) -> bool:
    """Whether a fact takes the place of one that it names.

    A model finds that a statement of one thing contradicts what was said of its siblings too ("the
    left eye", "the right eye"). So of what it contradicts only that counts which it contradicts
    most, and what was another value of that.
    """
    if older.id in newer.replaces:
        return True
    contradicted = dict(newer.contradicts)
    if older.id not in contradicted:
        return False
    return all(
        probability <= contradicted[older.id] or name in older.doubts
        for name, probability in contradicted.items()
    )


def _with_conflicts(slot: Sequence[FactRecord]) -> list[FactRecord]:
    newest = sorted((fact for fact in slot if fact.valid), key=lambda fact: fact.stated_at)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in possible_conflicts(newest[-_COMPARED:]):
        found[one].add(other)
        found[other].add(one)
    return [
        replace(fact, possible_conflicts=tuple(sorted(found.get(fact.id, ())))) for fact in slot
    ]


def changed_facts(
    resolved: Iterable[ScopedFact], before: Mapping[str, FactRecord]
) -> list[ScopedFact]:
    """Those that are not as they were."""
    return [each for each in resolved if before.get(each.fact.id) != each.fact]
