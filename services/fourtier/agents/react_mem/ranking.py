"""Facts, entries of the archive and episodes in one ranking.

Each tier has a search of its own, whose scores say nothing beside those of another. Their ranks do:
a memory counts by its place (reciprocal rank fusion, Cormack et al. 2009), and what was said at
once is one group, whose places add up. So a turn that the archive finds, and a fact that was
learned from it, hold each other up, and stand in the prompt once.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from fourtier.schema.archive import ArchiveEntry, ArchiveHit
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact

#: How soon places count less: the second counts 5/6 of the first. `docs/recall.md` says on what it
#: was chosen. The tiers count the same: half of it for facts finds as much of what was said in
#: turns, but a fact that was told to the memory by itself would stand behind twenty turns.
_K = 5.0

_PAST = re.compile(
    r"\b(used to|previous(ly)?|former(ly)?|before|earlier|once|back then|(at|in) (that|the) time"
    r"|originally|in the past|old|ago|last (year|month|week)|until|(in|since) (19|20)\d\d)\b",
    re.IGNORECASE,
)


def asks_about_the_past(question: str) -> bool:
    """Whether what held earlier may be the answer."""
    return _PAST.search(question) is not None


@dataclass(slots=True)
class Group:
    """What was said at once, or an episode.

    Attributes:
        score: of all its members; the best group has the highest.
        facts: learned from it, best first.
        outdated: facts learned from it that no longer hold, where the question is not about the
            past; they are not shown.
        entries: of the archive, in the order in which they were said.
    """

    score: float = 0.0
    facts: list[Fact] = field(default_factory=list)
    outdated: list[Fact] = field(default_factory=list)
    entries: list[ArchiveHit] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)

    @property
    def no_longer_holds(self) -> bool:
        """Whether all that was learned from it is replaced by now."""
        return bool(self.outdated) and not self.facts


def ranked(
    facts: Sequence[Fact],
    entries: Sequence[ArchiveHit],
    episodes: Sequence[Episode],
    *,
    past: bool,
) -> list[Group]:
    """Groups, best first.

    Args:
        facts: best first, those that no longer hold included.
        entries: best first.
        episodes: best first.
        past: facts that no longer hold count as well.
    """
    groups: dict[Hashable, Group] = {}
    here = {_said_in(each.entry) for each in entries}
    current = [fact for fact in facts if past or fact.valid_until is None]
    for place, fact in enumerate(current):
        group = groups.setdefault(_learned_from(fact, here), Group())
        # Sentences of one turn count once, by the best of them.
        group.score += 0.0 if group.facts else 1 / (_K + place)
        group.facts.append(fact)
    seen: set[Hashable] = set()
    for place, found in enumerate(entries):
        key = _said_in(found.entry)
        group = groups.setdefault(key, Group())
        group.score += 0.0 if key in seen else 1 / (_K + place)
        group.entries.append(found)
        seen.add(key)
    for place, episode in enumerate(episodes):
        groups.setdefault(f"episode {episode.id}", Group(1 / (_K + place), episodes=[episode]))
    for fact in facts:
        if fact not in current and (key := _learned_from(fact, here)) in groups:
            groups[key].outdated.append(fact)
    for group in groups.values():
        group.entries.sort(key=lambda each: (each.entry.timestamp, each.entry.part != "question"))
    return sorted(groups.values(), key=lambda group: -group.score)


def _said_in(entry: ArchiveEntry) -> Hashable:
    if entry.source_kind == "conversation" and entry.invocation_id:
        return entry.source, entry.invocation_id
    return f"entry {entry.id}"


def _learned_from(fact: Fact, here: set[Hashable]) -> Hashable:
    """The turn that was found of those in which it was said; else the last one."""
    said = [(fact.source, fact.invocation_id)]
    said += [(each.source, each.invocation_id) for each in fact.earlier]
    last = said[0] if fact.invocation_id else f"fact {fact.id}"
    return next((each for each in said if each in here), last)
