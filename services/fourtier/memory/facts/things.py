"""What a statement is about: reading "my budget for the Hawaii trip" or "the capital of France"."""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.values import is_name
from fourtier.memory.facts.words import (
    CONTRAST,
    CURRENT,
    FRESH,
    LIGHT,
    NOBODY,
    NOT_IN_A_NAME,
    PREPOSITIONS,
    RELATIVE,
    SEVERAL,
    WHICH,
)

#: The owner of what belongs to whoever speaks.
SPEAKER = "\x00speaker"

_POSSESSIVE = re.compile(r"^(?P<owner>.+?)(?:'s|s')\s+(?P<rest>.+)$")
_OF = re.compile(r"^the\s+(?P<rest>.+?)\s+of\s+(?P<owner>.+)$", re.IGNORECASE)
_MARKS = re.compile(r"[_\s.,;:!\"]+")
_MINE = frozenset(["my", "our"])
_MOST_WORDS = 20
_MOST_SUBJECT_WORDS = 5


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that has one value at a time.

    Attributes:
        key: owner and main noun; things with different keys are never the same.
        head: the main noun.
        words: the rest of its name.
        unique: the name fits one thing only.
        change: the name says that it is another than before ("my new address").
    """

    key: str
    head: frozenset[int]
    words: frozenset[int]
    unique: bool
    change: bool = False


class Subject(NamedTuple):
    """Somebody or something of whom something is stated, and whether the words fit one only."""

    owner: str
    unique: bool


def thing_key(owner: str, head: frozenset[int]) -> str:
    """Owner and main noun as one text."""
    return f"{owner}|{','.join(map(str, sorted(head)))}"


def short_name(thing: Thing) -> frozenset[int]:
    """The name without words that say little; things of one key and short name are the same."""
    return (thing.words - LIGHT) or thing.words


def is_shorter_name(one: Thing, other: Thing) -> bool:
    """Whether one of the names is the other with something left out that tells nothing apart."""
    smaller, larger = sorted((one.words, other.words), key=len)
    return bool(smaller) and smaller < larger and not (larger - smaller) & CONTRAST


def read_thing(phrase: str) -> Thing | None:
    """Read a noun phrase; None when it names no thing on its own."""
    words = phrase.split()
    if not 1 < len(words) <= _MOST_WORDS:
        return None
    first = words[0].casefold()
    if RELATIVE & set(words[1:]):
        return _described(words) if first == "the" and words[-1] not in RELATIVE else None
    if NOT_IN_A_NAME & set(words):
        return None
    if first in _MINE:
        return _owned(SPEAKER, words[1:])
    return _definite(phrase) if first == "the" else _possessed(phrase)


def read_attribute(subject: str, attribute: str) -> Thing:
    """What a subject and an attribute name that a statement came with; trusted as they are."""
    owner = plain(subject)
    if owner in {"", "i", "me", "my", "user"}:
        owner = SPEAKER
    thing = _named(owner, plain(attribute).split())
    if thing is None:
        return Thing(f"{owner}|{plain(attribute)}", frozenset(), frozenset(), unique=True)
    return replace(thing, unique=True)


def read_subject(phrase: str) -> Subject | None:
    """Who or what does something; None for those that nothing is known of: "he", "people"."""
    words = phrase.split()
    if len(words) == 1 and phrase.casefold() in {"i", "we"}:
        return Subject(SPEAKER, unique=True)
    if not words or NOT_IN_A_NAME & set(words) or words[1:] == ["I"]:
        return None
    first = words[0].casefold()
    title = len(words) > 1 and is_name(phrase) and words[1][0].isupper()
    if first in _MINE and not (title and words[0][0].isupper()):
        rest = words[1:]
        if not 0 < len(rest) <= _MOST_SUBJECT_WORDS:
            return None
        return Subject(f"{SPEAKER}'s {plain(' '.join(rest))}", _is_one(rest))
    named = title or (is_name(phrase) and first not in NOBODY)
    if named or (first == "the" and is_name(words[-1])):
        return Subject(plain(phrase), unique=True)
    return None


def read_kind(phrase: str) -> Subject | None:
    """A kind of thing, or one that has a name in its own: "baseball", "Tunisia football team"."""
    words = phrase.split()
    closed = NOBODY | NOT_IN_A_NAME | PREPOSITIONS
    if 0 < len(words) <= _MOST_SUBJECT_WORDS and not closed & {word.casefold() for word in words}:
        return Subject(plain(phrase), unique=True)
    return None


def _definite(phrase: str) -> Thing | None:
    """What "the" stands before; "the budget" by itself is whichever was spoken of."""
    match = _OF.match(phrase)
    if match is not None and is_name(match["owner"]):
        return _named(plain(match["owner"]), match["rest"].split())
    thing = _named(SPEAKER, phrase.split()[1:])
    return thing if thing and thing.words else None


def _possessed(phrase: str) -> Thing | None:
    match = _POSSESSIVE.match(phrase)
    if match is None or not is_name(match["owner"]):
        return None
    if match["owner"].split(maxsplit=1)[0].casefold() in NOBODY:
        return None
    return _named(plain(match["owner"]), match["rest"].split())


def _owned(owner: str, words: list[str]) -> Thing | None:
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
    head = terms(front[-1]) if front else frozenset[int]()
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
