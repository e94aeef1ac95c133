"""Which statements are about the same thing, and which of them is valid.

A slot holds the statements that may be about one thing: somebody's budgets, somebody's home. Which
slot a fact belongs to depends on that fact alone, and what is valid in a slot on the facts in it
alone, so that no order, batching or repetition of writes can end in another state. For the same
reason slots are never merged: a statement that fits two things supersedes neither.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fourtier.memory.facts.contradictions import (
    corrects,
    ends,
    finishes,
    has_other_number,
    is_another_kind,
    is_described_otherwise,
    is_known_person,
    is_same_side,
    may_conflict,
)
from fourtier.memory.facts.identity import owner_of, slot_id
from fourtier.memory.facts.records import OPEN, FactRecord
from fourtier.memory.facts.statement import read_triple
from fourtier.memory.facts.things import SPEAKER, is_shorter_name, short_name, slot_name
from fourtier.memory.facts.triple import Triple, explicit_triple, may_replace
from fourtier.schema.message import Scope


def triple_of(fact: FactRecord) -> Triple | None:
    """What a fact says of which thing: as its message says, or read from its words."""
    if fact.subject and fact.attribute:
        return explicit_triple(fact.subject, fact.attribute)
    return read_triple(fact.content)


def has_happened(fact: FactRecord) -> bool:
    """Whether a fact is an event: what has happened stays true, whatever comes after it."""
    triple = triple_of(fact)
    return triple is not None and triple.does and not triple.holds and not triple.negative


def slot_of(scope: Scope, fact: FactRecord) -> str:
    """The slot that a fact belongs to; empty for one that never supersedes another."""
    triple = triple_of(fact)
    if triple is None:
        return ""
    return slot_id(scope, slot_name(triple.thing).replace(SPEAKER, owner_of(scope, fact.speaker)))


def resolve_validity(facts: Sequence[FactRecord]) -> list[FactRecord]:
    """The facts of one slot with their validity set.

    A fact is valid until the first statement after it that is about the same thing. Of those made
    at one time, in one message perhaps, the last is one that says that something has changed.
    """
    ordered = sorted(facts, key=_said_at)
    slot = _Slot([triple_of(fact) for fact in ordered])
    resolved: list[FactRecord] = []
    for index, fact in enumerate(ordered):
        after = slot.replaced_at(index)
        resolved.append(_open(fact) if after is None else superseded(fact, ordered[after]))
    return resolved


def possible_conflicts(facts: Sequence[FactRecord]) -> list[tuple[str, str]]:
    """Pairs of valid facts that may contradict each other: the ids of the newer and the older one.

    They are said of one thing, and nothing says that the newer one takes the other's place.
    """
    by_slot: defaultdict[str, list[FactRecord]] = defaultdict(list)
    for fact in facts:
        if fact.slot and fact.valid:
            by_slot[fact.slot].append(fact)
    pairs: list[tuple[str, str]] = []
    for slot in by_slot.values():
        read = [(fact, triple_of(fact)) for fact in sorted(slot, key=_said_at)]
        pairs += [
            (newer.id, older.id)
            for index, (newer, new) in enumerate(read)
            for older, old in read[:index]
            if new is not None and old is not None and may_conflict(new, old)
        ]
    return pairs


class _Slot:
    """The triples of one slot in the order in which they were made."""

    def __init__(self, triples: Sequence[Triple | None]) -> None:
        self._triples = triples
        self._named: defaultdict[frozenset[int], list[int]] = defaultdict(list)
        # Whatever their names: what denies or ends, what changes or corrects, events that end.
        self._denials: list[int] = []
        self._changes: list[int] = []
        self._endings: list[int] = []
        for index, triple in enumerate(triples):
            if triple is not None:
                self._of_its_kind(triple).append(index)
        self._people = {triple.thing.whose for triple in triples if triple is not None} - {
            frozenset()
        }
        self._meant: dict[int, frozenset[int] | None] = {}

    def replaced_at(self, older: int) -> int | None:
        """The index of the first triple that supersedes this one."""
        old = self._triples[older]
        if old is None:
            return None
        later = sorted(index for index in self._candidates(old) if index > older)
        return next((index for index in later if self._replaces(index, older)), None)

    def _of_its_kind(self, triple: Triple) -> list[int]:
        if triple.change or triple.wrong:
            return self._changes
        if triple.negative:
            return self._denials
        return self._endings if triple.finishes else self._named[short_name(triple.thing)]

    def _candidates(self, old: Triple) -> set[int]:
        """All that may supersede one, and as few others as can be told without a comparison."""
        if old.does and not old.holds and not old.negative:  # what has happened is never over
            return {*self._changes, *self._denials}
        # What only stands beside others says at most that what was denied is so.
        named = self._named[short_name(old.thing)] if old.negative or not old.does else []
        # Of two denials none supersedes the other.
        denials = [] if old.negative else self._denials
        return {*named, *denials, *self._changes, *self._endings}

    def _replaces(self, newer: int, older: int) -> bool:
        new, old = self._triples[newer], self._triples[older]
        if new is None or old is None or not is_known_person(new, old, self._people):
            return False
        if new.wrong:
            return corrects(new, old)
        if new.negative or old.negative:
            any_of_them = new.one or new.thing.sort.endswith("|is")
            return ends(new, old) and not (any_of_them and self._is_one_of_several(newer, new))
        criteria = (has_other_number, finishes, is_described_otherwise, is_another_kind)
        if any(otherwise(new, old) for otherwise in criteria):
            return True
        return self._has_other_value(newer, new, old)

    def _has_other_value(self, newer: int, new: Triple, old: Triple) -> bool:
        if not may_replace(new, old):
            return False
        if new.attribute and old.attribute:
            return new.attribute == old.attribute
        return is_same_side(new, old) and short_name(old.thing) == self._name_meant(newer, new)

    def _is_one_of_several(self, newer: int, new: Triple) -> bool:
        """Whether what it ends may be another than this: of two cars one was sold."""
        meant = [
            old.all_words for old in self._triples[:newer] if old is not None and ends(new, old)
        ]
        return any(not (one <= other or other <= one) for one in meant for other in meant)

    def _name_meant(self, newer: int, new: Triple) -> frozenset[int] | None:
        if newer not in self._meant:
            self._meant[newer] = self._find_name(newer, new)
        return self._meant[newer]

    def _find_name(self, newer: int, new: Triple) -> frozenset[int]:
        """Of the names before it, the one that it gives, or the only one that it can mean."""
        own = short_name(new.thing)
        before = [
            old.thing
            for old in self._triples[:newer]
            if new.change and old is not None and is_same_side(new, old) and may_replace(new, old)
        ]
        if any(short_name(old) == own for old in before):
            return own
        if new.begun and not new.thing.words:
            meant = {short_name(old) for old in before}
        else:
            meant = {short_name(old) for old in before if is_shorter_name(new.thing, old)}
        return meant.pop() if len(meant) == 1 else own


def _said_at(fact: FactRecord) -> tuple[str, bool, str]:
    triple = triple_of(fact)
    return fact.stated_at, triple is not None and triple.change, fact.id


def _open(fact: FactRecord) -> FactRecord:
    return replace(fact, valid_until=OPEN, superseded_by="")


def superseded(fact: FactRecord, by: FactRecord) -> FactRecord:
    """A fact that another one has superseded."""
    # Until the other was first heard of; if that was before this one, until it was said again.
    until = by.first_stated_at if by.first_stated_at > fact.stated_at else by.stated_at
    return replace(fact, valid_until=until, superseded_by=by.id)
