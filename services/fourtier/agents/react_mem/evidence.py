"""Which facts, entries and episodes stand in the prompt: by one ranking, for a budget of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from fourtier.agents.react_mem.episode_item import episode_item
from fourtier.agents.react_mem.fitting import FENCES, cost, cut_to_fit
from fourtier.agents.react_mem.quotes import entry_item, fact_item
from fourtier.agents.react_mem.ranking import Group, asks_about_the_past, ranked
from fourtier.agents.react_mem.tiers import Memories
from fourtier.models.text.wishes import is_wish
from fourtier.schema.agent import AgentRequest, MemoryUsed
from fourtier.schema.archive import ArchiveHit, FoundBy
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.tiers import MemoryConsidered, Tier

Fence = Literal["wishes", "facts", "archive", "episodes"]
_Shown = Literal["whole", "cut", "in-entry", "in-conversation", "repeated", "budget", "outdated"]
#: The order in which the memories that were used are named.
_TIERS: Sequence[Tier] = ("facts", "archive", "episodes")


@dataclass(frozen=True, slots=True)
class _Item:
    """A memory as it would stand in the prompt."""

    tier: Tier
    fence: Fence
    id: str
    text: str
    content: str
    timestamp: datetime
    score: float | None
    legs: Mapping[str, FoundBy]
    speaker: str = ""

    @property
    def words(self) -> str:
        """Who says what; the same for those that say the same."""
        return " ".join(f"{self.speaker}: {self.content}".casefold().split())

    def used(self) -> MemoryUsed:
        return MemoryUsed(
            tier=self.tier, id=self.id, content=self.content, timestamp=self.timestamp
        )

    def considered(self, shown: _Shown, rank: int | None) -> MemoryConsidered:
        return MemoryConsidered(
            tier=self.tier,
            id=self.id,
            shown=shown,
            rank=rank,
            score=self.score,
            legs=dict(self.legs),
        )


@dataclass(slots=True)
class Evidence:
    """What was chosen.

    Attributes:
        left: tokens of the budget that nothing uses.
        texts: by fence what stands there, best first.
        considered: all that was found, best first.
    """

    left: int
    texts: dict[Fence, list[str]] = field(default_factory=dict)
    considered: list[MemoryConsidered] = field(default_factory=list)
    _used: list[MemoryUsed] = field(default_factory=list)
    _said: set[str] = field(default_factory=set)

    def has(self, item: _Item) -> bool:
        """Whether an entry with the same words stands there, as does one that is often said."""
        return item.tier == "archive" and item.words in self._said

    @property
    def used(self) -> list[MemoryUsed]:
        """What stands in the prompt: tier by tier, of each the best first."""
        return sorted(self._used, key=lambda each: _TIERS.index(each.tier))

    def take(self, items: Sequence[_Item], rank: int) -> bool:
        """Take items as they are, all or none; whether they fit."""
        return self._put(items, [item.text for item in items], "whole", rank)

    def take_cut(self, items: Sequence[_Item], rank: int) -> bool:
        """Take as much of items as there is room for; whether there was some."""
        room = self.left - self._fences(items)
        texts = cut_to_fit([item.text for item in items], room)
        return texts is not None and self._put(items, texts, "cut", rank)

    def note(self, items: Sequence[_Item], shown: _Shown, rank: int | None) -> None:
        """Say what became of items that do not stand in the prompt by themselves."""
        self.considered += [item.considered(shown, rank) for item in items]
        if shown == "in-entry":
            self._used += [item.used() for item in items]

    def _put(self, items: Sequence[_Item], texts: Sequence[str], shown: _Shown, rank: int) -> bool:
        price = cost(texts) + self._fences(items)
        if price > self.left:
            return False
        self.left -= price
        for item, text in zip(items, texts, strict=True):
            self.texts.setdefault(item.fence, []).append(text)
            self._used.append(item.used())
            self._said.add(item.words)
            self.considered.append(item.considered("whole" if text == item.text else shown, rank))
        return True

    def _fences(self, items: Sequence[_Item]) -> int:
        """What the fences cost that are not there yet."""
        return FENCES * len({item.fence for item in items} - self.texts.keys())


def choose(request: AgentRequest, memories: Memories, budget: int) -> Evidence:
    """Take what was said at once as a whole, from the best down.

    Of entries that say the same word for word the best one is taken. Where a turn does not fit, its
    facts are taken without it; where there are none, an entry or an episode is cut, a fact never.
    What comes behind may still fit.
    """
    past = asks_about_the_past(request.question)
    chosen = Evidence(budget)
    groups = ranked(memories.facts, memories.entries, memories.episodes, past=past)
    for rank, group in enumerate(groups, start=1):
        _choose_from(group, rank, request.user, chosen)
    for hit in memories.in_conversation:
        chosen.note([_of_entry(hit, group=None)], "in-conversation", None)
    return chosen


def _choose_from(group: Group, rank: int, user: str, chosen: Evidence) -> None:
    facts = [_of_fact(fact, user) for fact in group.facts]
    turn = [_of_entry(hit, group) for hit in group.entries]
    chosen.note([item for item in turn if chosen.has(item)], "repeated", rank)
    turn = [item for item in turn if not chosen.has(item)]
    turn += [_of_episode(episode) for episode in group.episodes]
    said = {item.id for item in facts if item.fence == "facts" and _is_in(item, turn)}
    more = [item for item in facts if item.id not in said]
    if chosen.take([*turn, *more], rank):
        chosen.note([item for item in facts if item.id in said], "in-entry", rank)
    else:
        shown = [chosen.take([item], rank) for item in facts]
        missing = [item for item, is_there in zip(facts, shown, strict=True) if not is_there]
        chosen.note(missing, "budget", rank)
        if turn and (any(shown) or not chosen.take_cut(turn, rank)):
            chosen.note(turn, "budget", rank)
    chosen.note([_of_fact(fact, user) for fact in group.outdated], "outdated", rank)


def _is_in(item: _Item, turn: Sequence[_Item]) -> bool:
    """Whether a turn has the words of a fact."""
    words = " ".join(item.content.split())
    return any(words in " ".join(each.content.split()) for each in turn if each.tier == "archive")


def _of_fact(fact: Fact, user: str) -> _Item:
    wish = fact.speaker in {"", user} and is_wish(fact.content)
    return _Item(
        tier="facts",
        fence="wishes" if wish else "facts",
        id=fact.id,
        text=fact_item(fact),
        content=fact.content,
        timestamp=fact.timestamp,
        score=fact.score,
        legs={},
    )


def _of_entry(hit: ArchiveHit, group: Group | None) -> _Item:
    entry, outdated = hit.entry, group.outdated if group and group.no_longer_holds else ()
    return _Item(
        tier="archive",
        fence="archive",
        id=entry.id,
        text=entry_item(entry, outdated),
        content=entry.content,
        timestamp=entry.timestamp,
        score=hit.score,
        legs=hit.legs,
        speaker=entry.speaker,
    )


def _of_episode(episode: Episode) -> _Item:
    return _Item(
        tier="episodes",
        fence="episodes",
        id=episode.id,
        text=episode_item(episode),
        content=episode.goal,
        timestamp=episode.timestamp,
        score=episode.score,
        legs={},
    )
