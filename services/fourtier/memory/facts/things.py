"""What a statement is about: reading "my budget for the Hawaii trip" or "the capital of France"."""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.values import is_name
from fourtier.memory.facts.words import (
    CONTRAST,
    CURRENT,
    EVENTS,
    FRESH,
    LIGHT,
    MANY,
    NOBODY,
    NOT_IN_A_NAME,
    PREPOSITIONS,
    RELATIVE,
    SEVERAL,
    TOPICS,
    WHICH,
)

#: The owner of what belongs to whoever speaks.
SPEAKER = "\x00speaker"

_POSSESSIVE = re.compile(r"^(?P<owner>.+?)(?:'s|s')\s+(?P<rest>.+)$")
_OF = re.compile(r"^the\s+(?P<rest>.+?)\s+of\s+(?P<owner>.+)$", re.IGNORECASE)
#: "Maria from sales", "John in accounting".
_NAME_FROM = re.compile(
    r"^(?P<name>[A-Z]\w+)\s+(?:from|in|at|next)\s+(?P<rest>(?:(?:my|our|the)\s)?[a-z].*)$"
)
_THIS = re.compile(r"\s(?:this|these)\s(?=\w)")
#: Tells when it is so, and does not belong to its name.
_PERIOD = re.compile(r"\s(?:for\s+)?this\s+(?:year|month|week|season|term|semester)\b")
_MARKS = re.compile(r"[_\s.,;:!\"]+")
_MINE = frozenset(["my", "our"])
_MAX_WORDS = 20
_MAX_SUBJECT_WORDS = 5
_MAX_BARE = 5


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that has one value at a time.

    Attributes:
        key: owner and main noun; things with different keys are never the same.
        head: the main noun.
        words: the rest of its name.
        unique: the name fits one thing only.
        change: the name says that it is another than before ("my new address").
        whose: of somebody's with a name, what else tells who that is.
    """

    key: str
    head: frozenset[int]
    words: frozenset[int]
    unique: bool
    change: bool = False
    whose: frozenset[int] = frozenset()

    @property
    def sort(self) -> str:
        """Its key without the owner, who may speak, or be spoken of by name."""
        return self.key.partition("|")[2]

    def side(self, name: str) -> "Thing":
        """One side of it, of which it is not known whether its name fits one thing only."""
        return replace(self, key=f"{self.key}|{name}", unique=False)


class Subject(NamedTuple):
    """Somebody or something of whom something is stated.

    Attributes:
        unique: the words fit one only.
        whose: of somebody with a name, what else tells who it is: "my brother John".
    """

    owner: str
    unique: bool
    whose: frozenset[int] = frozenset()


def thing_key(owner: str, head: frozenset[int]) -> str:
    """Owner and main noun as one text."""
    return f"{owner}|{','.join(map(str, sorted(head)))}"


def slot_name(thing: Thing) -> str:
    """What a thing and those that bear on it have in common: the owner and the topic."""
    owner, head = thing.key.split("|")[:2]
    stems = [int(stem) for stem in head.split(",") if stem.isdecimal()]
    topics = {TOPICS.get(stem, "") for stem in stems} - {""}
    return f"{owner}|{min(topics, default=head)}"


def short_name(thing: Thing) -> frozenset[int]:
    """The name without words that say little; things of one key and short name are the same."""
    return (thing.words - LIGHT) or thing.words


def is_shorter_name(new: Thing, old: Thing) -> bool:
    """Whether the newer name is the older one with something left out that tells nothing apart.

    What it adds makes it another thing: a hotel budget is not the budget.
    """
    missing, added = old.words - new.words, new.words - old.words
    common = new.words & old.words
    return bool(common) and not added - LIGHT and not missing & CONTRAST


def read_thing(phrase: str) -> Thing | None:
    """Read a noun phrase; None when it names no thing on its own."""
    words = _THIS.sub(" ", _PERIOD.sub("", phrase)).split()
    if not 0 < len(words) <= _MAX_WORDS or (len(words) == 1 and not _is_bare(words)):
        return None
    first = words[0].casefold()
    if RELATIVE & set(words[1:]):
        return _described(words) if first == "the" and words[-1] not in RELATIVE else None
    if NOT_IN_A_NAME & set(words):
        return None
    return _possession(SPEAKER, words[1:]) if first in _MINE else _of_others(phrase, words)


def _of_others(phrase: str, words: list[str]) -> Thing | None:
    """What is not said to be the speaker's."""
    first = words[0].casefold()
    if first in EVENTS:
        return _named(SPEAKER, words)
    if _is_bare(words):
        thing = _named(SPEAKER, words)
        return replace(thing, unique=False) if thing is not None else None
    return _definite(phrase) if first == "the" else _possessed(phrase)


def read_attribute(subject: str, attribute: str) -> Thing:
    """What a subject and an attribute name that a statement came with; trusted as they are."""
    owner = plain(subject)
    if owner in {"", "i", "me", "my", "user"}:
        owner = SPEAKER
    thing = _named(owner, plain(attribute).split())
    if thing is None:
        return Thing(f"{owner}|{plain(attribute)}", frozenset(), frozenset(), unique=True)
    return replace(thing, unique=not thing.head & MANY)


def read_subject(phrase: str) -> Subject | None:
    """Who or what does something; None for those that nothing is known of: "he", "people"."""
    words = phrase.split()
    if phrase.casefold() in {"i", "we"} or phrase.endswith(" and I"):
        return Subject(SPEAKER, unique=True)
    if not words or NOT_IN_A_NAME & set(words) or words[1:] == ["I"]:
        return None
    first = words[0].casefold()
    title = len(words) > 1 and is_name(phrase) and words[1][0].isupper()
    if first in _MINE and not (title and words[0][0].isupper()):
        return _of_speaker(words[1:])
    if (known := _NAME_FROM.match(phrase)) is not None and first not in NOBODY:
        return Subject(plain(known["name"]), True, terms(known["rest"]))
    named = title or (is_name(phrase) and first not in NOBODY)
    if named or (first == "the" and len(words) > 1 and is_name(words[-1])):
        return Subject(plain(phrase), unique=True)
    return None


def read_whole(phrase: str) -> Subject | None:
    """A thing that has parts or contents: "the warehouse", "our house"; None for other phrases."""
    thing = read_thing(phrase)
    if thing is None:
        return None
    return Subject(f"{SPEAKER}'s {plain(phrase)}", thing.unique)


def _of_speaker(words: list[str]) -> Subject | None:
    """Somebody of the speaker's: "my sister", "my brother John"."""
    if not 0 < len(words) <= _MAX_SUBJECT_WORDS:
        return None
    if len(words) > 1 and words[-1][0].isupper() and not words[0][0].isupper():
        return _named_person(words)
    return Subject(f"{SPEAKER}'s {plain(' '.join(words))}", _is_one(words))


def _named_person(words: list[str]) -> Subject:
    """So "brother John": by the name, and by what he is."""
    name = len(words)
    while name > 1 and words[name - 1][0].isupper():
        name -= 1
    return Subject(plain(" ".join(words[name:])), True, terms(" ".join(words[:name])))


def read_kind(phrase: str) -> Subject | None:
    """A kind of thing, or one that has a name in its own: "baseball", "Tunisia football team"."""
    words = phrase.split()
    closed = NOBODY | NOT_IN_A_NAME | PREPOSITIONS
    if 0 < len(words) <= _MAX_SUBJECT_WORDS and not closed & {word.casefold() for word in words}:
        return Subject(plain(phrase), unique=True)
    return None


def _is_bare(words: list[str]) -> bool:
    """A noun that begins the sentence without an article: "Retention", "Pallet 7"."""
    first, *rest = words
    return (
        first[:1].isupper()
        and first.casefold() not in NOBODY | {"i", "we"}
        and "'" not in first
        and len(words) <= _MAX_BARE
        and all(word.islower() or word.isdigit() for word in rest)
    )


def _definite(phrase: str) -> Thing | None:
    """What "the" stands before; "the budget" by itself is whichever was spoken of."""
    match = _OF.match(phrase)
    if match is not None and is_name(match["owner"]):
        return _named(plain(match["owner"]), match["rest"].split())
    thing = _named(SPEAKER, phrase.split()[1:])
    return thing if thing is None or thing.words else replace(thing, unique=False)


def _possessed(phrase: str) -> Thing | None:
    match = _POSSESSIVE.match(phrase)
    if match is None or not is_name(match["owner"]):
        return None
    if match["owner"].split(maxsplit=1)[0].casefold() in NOBODY:
        return None
    return _named(plain(match["owner"]), match["rest"].split())


def _possession(owner: str, words: list[str]) -> Thing | None:
    """`words` behind "my"; "my wife's name" is the name of somebody else."""
    match = _POSSESSIVE.match(" ".join(words))
    if match is None:
        return _named(owner, words)
    person = match["owner"].split()
    thing = _named(f"{owner}'s {plain(match['owner'])}", match["rest"].split())
    if thing is None or _is_one(person):
        return thing
    return replace(thing, unique=False)


def _named(owner: str, words: list[str]) -> Thing | None:
    rest_words = [word for word in words if word.casefold() not in FRESH | CURRENT]
    change = any(word.casefold() in FRESH for word in words)
    front: list[str] = []
    for word in rest_words:
        if word.casefold() in PREPOSITIONS:
            break
        front.append(word)
    numbered = len(front) > 1 and front[-1].isdigit()  # "pallet 7"
    head = terms(front[-2 if numbered else -1]) if front else frozenset[int]()
    if not head:
        return None
    rest = terms(" ".join(rest_words)) - head
    return Thing(thing_key(owner, head), head, rest, unique=_is_one(front), change=change)


def _described(words: list[str]) -> Thing:
    """A phrase with a clause in it: the same only when word for word the same."""
    return Thing(
        f"{SPEAKER}|{plain(' '.join(words))}",
        terms(words[1]),
        frozenset(),
        unique=True,
    )


def _is_one(words: list[str]) -> bool:
    """Whether one has but one of it: a boss, not a sister; the sister Anna, not a flight number."""
    stems = terms(" ".join(words))
    named = any(word[:1].isupper() and not word.isupper() for word in words)
    return named or bool(stems & WHICH) or not stems & SEVERAL


def plain(phrase: str) -> str:
    """A phrase without case, marks between its words and the article in front of it."""
    words = _MARKS.sub(" ", phrase.casefold()).split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)
