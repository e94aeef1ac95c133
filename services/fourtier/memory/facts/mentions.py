"""The names that a fact mentions.

The index has them at each fact's point, and they are made from the fact alone: a fact that is
forgotten takes its mentions with it.
"""

from collections.abc import Collection, Iterable

from fourtier.memory.facts.graph import ScopedFact
from fourtier.memory.facts.records import FactRecord
from fourtier.models.text.proper_names import name_key, proper_names
from fourtier.schema.message import Scope

#: Names of one fact: a text of 8,000 characters may be a list of them.
_MAX_NAMES = 64
#: Speakers that are not names: what the assistant says, and dialogue that was imported without any.
_NOBODY = frozenset({"user", "assistant", "system", "tool", "human", "bot"})


def mentioned(each: ScopedFact) -> dict[str, str]:
    """The names that a fact mentions, as they are written there, by their keys.

    They are those in its content, what it is about, and who said it, unless that is the user.
    """
    fact = each.fact
    names = [*proper_names(fact.content), *proper_names(fact.subject)]
    if fact.speaker.casefold() not in _NOBODY | {each.scope.user.casefold()}:
        names += proper_names(fact.speaker)
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name_key(name), name)
    return dict(list(found.items())[:_MAX_NAMES])


def keys_of(names: Iterable[str]) -> list[str]:
    """The keys of names that somebody asks for."""
    return list(dict.fromkeys(map(name_key, names)))


def mentions_any(scope: Scope, fact: FactRecord, keys: Collection[str]) -> bool:
    """Whether a fact mentions one of some names, given by their keys; without any it does."""
    return not keys or not mentioned(ScopedFact(scope, fact)).keys().isdisjoint(keys)
