"""What facts bear on: those of their slots, and those that they name as superseded by them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.replacements import Named, Notes
from fourtier.schema.message import Scope


@dataclass(frozen=True, slots=True)
class RelatedFacts:
    """What the graph has of others that facts bear on that are about to change.

    Attributes:
        facts: by id, those that share a slot with them, and those that they name.
        notes: which facts name these and those.
        naming: by id, the facts of the notes.
    """

    facts: Mapping[str, ScopedFact]
    notes: Notes
    naming: Mapping[str, FactRecord]


async def read_related(
    graph: FactGraph, changing: Mapping[str, ScopedFact], left: Mapping[str, Scope]
) -> RelatedFacts:
    """Read what some facts bear on.

    Args:
        graph: of the facts.
        changing: by id, the facts as they are to be, or were.
        left: slots that they leave.
    """
    named: defaultdict[str, set[Scope]] = defaultdict(set)
    for each in changing.values():
        for name in each.fact.names:
            named[name].add(each.scope)
    facts = {
        name: found
        for name, found in (await graph.find(named)).items()
        if found.scope in named[name]
    }
    slots = {each.fact.slot: each.scope for each in [*changing.values(), *facts.values()]} | dict(
        left
    )
    in_slots = await graph.by_slots({slot: scope for slot, scope in slots.items() if slot})
    facts |= {name: ScopedFact(slots[fact.slot], fact) for name, fact in in_slots.items()}
    notes = await graph.replacements.read(
        {Named(scope, name) for name, scopes in named.items() for scope in scopes}
        | {Named(each.scope, each.fact.id) for each in [*changing.values(), *facts.values()]}
    )
    naming = {by: named.scope for named, noted in notes.items() for by in noted}
    return RelatedFacts(facts, notes, await graph.by_ids(naming))
