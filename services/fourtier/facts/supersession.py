"""Which statements are about the same thing, and which of them is valid.

A slot holds the statements that may be about one thing: somebody's budgets, somebody's home. Which
slot a fact belongs to depends on that fact alone, and what is valid in a slot on the facts in it
alone, so that no order, batching or repetition of writes can end in another state.
"""

from collections.abc import Sequence
from dataclasses import replace

from fourtier.facts.identity import owner_of, slot_id
from fourtier.facts.records import OPEN, FactRecord
from fourtier.facts.statement import Claim, explicit_claim, may_replace, read_claim
from fourtier.facts.things import SPEAKER, same_name, shorter_name
from fourtier.schema.message import Scope


def claim_of(fact: FactRecord) -> Claim | None:
    """What a fact says of which thing: as it was told, or read from its words."""
    if fact.subject and fact.attribute:
        return explicit_claim(fact.subject, fact.attribute)
    return read_claim(fact.content)


def slot_of(scope: Scope, fact: FactRecord) -> str:
    """The slot that a fact belongs to; empty for one that never takes another's place."""
    claim = claim_of(fact)
    if claim is None:
        return ""
    return slot_id(scope, claim.thing.key.replace(SPEAKER, owner_of(scope, fact.speaker)))


def settle(facts: Sequence[FactRecord]) -> list[FactRecord]:
    """The facts of one slot with their validity set.

    A fact is valid until the first statement after it that is about the same thing.
    """
    ordered = sorted(facts, key=lambda fact: (fact.stated_at, fact.id))
    claims = [claim_of(fact) for fact in ordered]
    settled: list[FactRecord] = []
    for place, fact in enumerate(ordered):
        later = next(
            (after for after in range(place + 1, len(ordered)) if _replaces(claims, after, place)),
            None,
        )
        settled.append(_superseded(fact, ordered[later]) if later else _open(fact))
    return settled


def _replaces(claims: Sequence[Claim | None], newer: int, older: int) -> bool:
    new, old = claims[newer], claims[older]
    if new is None or old is None or not may_replace(new, old):
        return False
    if new.attribute and old.attribute:
        return new.attribute == old.attribute
    if same_name(new.thing, old.thing):
        return True
    return new.change and shorter_name(new.thing, old.thing) and _is_clear(claims, newer)


def _is_clear(claims: Sequence[Claim | None], newer: int) -> bool:
    """Whether a name that fits no earlier one exactly leaves but one thing that it can mean."""
    new = claims[newer]
    before = [
        old.thing
        for old in claims[:newer]
        if old is not None and new is not None and may_replace(new, old)
    ]
    if new is None or any(same_name(new.thing, old) for old in before):
        return False
    meant = [old for old in before if shorter_name(new.thing, old)]
    return all(same_name(meant[0], other) for other in meant)


def _open(fact: FactRecord) -> FactRecord:
    return replace(fact, valid_until=OPEN, superseded_by="")


def _superseded(fact: FactRecord, by: FactRecord) -> FactRecord:
    until = by.first_stated_at if by.first_stated_at > fact.stated_at else by.stated_at
    return replace(fact, valid_until=until, superseded_by=by.id)
