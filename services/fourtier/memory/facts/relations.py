"""Verbs that tell one value at a time of somebody or something: "lives in", "was founded by".

Verbs that may be true of many things at once (like, know, visit, own, speak) are not here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import SPEAKER, Subject, Thing, read_kind, read_subject, thing_key
from fourtier.memory.facts.values import Kind, Value, read_value
from fourtier.memory.facts.words import ADVERB

_BE = r"(?:am|is|are)"
_HAVE = r"(?:(?:have|has)\s+)?"
_SORT = r"(?:\s+the\s+(?P<sort>[a-z]+(?:\s[a-z]+)?)\s+of)?"
#: What happens to a thing once, at one place and time, by one hand.
_MADE = (
    "founded|co-founded|established|created|invented|discovered|designed|developed|built"
    "|constructed|written|authored|composed|formed|launched"
)
#: What may happen in many places, but is one hand's work.
_MADE_BY = "directed|painted|illustrated|recorded|performed|sung|produced|manufactured|published"
#: Verbs that go with "the language of", "the position of".
_HOLD = "plays|speaks|works|holds|practises|practices|follows|teaches|studies|serves"
_LONG_PAST = re.compile(r"\b(?:in|since) (?:19|20)\d\d\b|\blast year\b")

_NAMES: frozenset[Kind] = frozenset(["name"])
_NAMES_AND_TIMES: frozenset[Kind] = frozenset(["name", "time", "number"])
_TEXTS: frozenset[Kind] = frozenset(["name", "words"])
_NUMBERS: frozenset[Kind] = frozenset(["number"])


@dataclass(frozen=True, slots=True)
class Relation:
    """One verb phrase.

    Attributes:
        name: those of one name tell the same, as does the noun: "works at", "my employer is";
            empty where the verb itself is the name.
        kinds: of values; others make it another statement ("lives in fear").
        change: whatever was said before holds no longer.
        people: the subject is somebody; otherwise it may be a kind of thing, never the speaker.
    """

    name: str
    phrase: re.Pattern[str]
    kinds: frozenset[Kind]
    change: bool
    people: bool


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """What a verb tells."""

    thing: Thing
    value: Value
    change: bool


def _relation(
    name: str,
    verb: str,
    kinds: frozenset[Kind] = _NAMES,
    *,
    change: bool = False,
    people: bool = True,
) -> Relation:
    text = rf"^(?P<subject>.+?)\s+{ADVERB}(?P<verb>{verb})\s+(?P<value>.+)$"
    return Relation(name, re.compile(text), kinds, change, people)


_RELATIONS = (
    _relation("home", rf"(?:lives?|resides?|{_BE}\s+(?:living|based))\s+(?:in|at)"),
    _relation(
        "home",
        rf"{_HAVE}{ADVERB}(?:moved|relocated)(?:\s+from\s+[A-Z]\S*)?\s+to",
        change=True,
    ),
    _relation("employer", rf"(?:works?|{_BE}\s+working)\s+(?:at|for)"),
    _relation("employer", rf"{_BE}\s+employed\s+(?:at|by)"),
    _relation(
        "employer",
        rf"{_HAVE}{ADVERB}(?:(?:started|began)(?:\s+working|\s+(?:a|my)\s+(?:new\s+)?job)?"
        r"|(?:got|found|took)\s+(?:a|my)\s+(?:new\s+)?job|switched\s+jobs)\s+(?:at|with|for|to)",
        change=True,
    ),
    _relation("job", rf"(?:works?|{_BE}\s+working)\s+as\s+(?:an?|the)", _TEXTS),
    _relation("job", rf"{_HAVE}(?:was\s+|am\s+|been\s+|got\s+)?promoted\s+to", _TEXTS, change=True),
    _relation("spouse", rf"{_BE}\s+(?:married|engaged)\s+to"),
    _relation("boss", r"reports?\s+to"),
    _relation("university", rf"(?:studies|study|{_BE}\s+studying)\s+at"),
    _relation("major", rf"(?:majors?|{_BE}\s+majoring)\s+in", _TEXTS),
    _relation("citizenship", rf"{_BE}\s+an?\s+(?:citizen|national|resident)\s+of"),
    _relation("age", rf"{_BE}(?=\s+\d{{1,3}}(?:\s+years?(?:\s+old)?)?$)", _NUMBERS),
    _relation(
        "age", rf"{_HAVE}turned(?=\s+\d{{1,3}}(?:\s+years?(?:\s+old)?)?$)", _NUMBERS, change=True
    ),
    _relation(
        "place",
        rf"{_BE}\s+(?:located|situated|headquartered|based)\s+(?:in|on|at){_SORT}",
        people=False,
    ),
    _relation("", rf"(?:was|were)\s+born\s+(?:in|on|at){_SORT}", _NAMES_AND_TIMES),
    _relation("", rf"died\s+(?:in|on|at|of){_SORT}", _NAMES_AND_TIMES),
    _relation("", rf"(?:was|were|is)\s+buried\s+(?:in|at){_SORT}"),
    _relation(
        "",
        rf"(?:was|were)\s+(?:{_MADE})\s+(?:by|in|on|at){_SORT}",
        _NAMES_AND_TIMES,
        people=False,
    ),
    _relation("", rf"(?:was|were)\s+(?:{_MADE_BY})\s+by", people=False),
    # "is associated with the sport of": the definite article says that there is one.
    _relation(
        "",
        rf"(?:{_BE}\s+[a-z]+(?:ed|en|wn)\s+[a-z]+|(?:{_HOLD})(?:\s+(?:in|at|with))?){_SORT[:-1]}",
        _TEXTS,
        people=False,
    ),
)


def read_relation(text: str, *, cased: bool) -> Iterator[RelationMatch]:
    """What the verbs of a text tell, the likeliest first."""
    for relation in _RELATIONS:
        match = relation.phrase.match(text)
        if match is not None and not (relation.change and _LONG_PAST.search(text)):
            relation_match = _read(relation, match, cased=cased)
            if relation_match is not None:
                yield relation_match


def _read(relation: Relation, match: re.Match[str], *, cased: bool) -> RelationMatch | None:
    subject = _subject(relation, match["subject"])
    sort = match.groupdict().get("sort") or ""
    value = read_value(match["value"], cased=cased, sorted_out=bool(sort))
    if subject is None or value is None or value.kind not in relation.kinds:
        return None
    key = (
        thing_key(subject.owner, terms(relation.name))
        if relation.name
        else f"{subject.owner}|{_verb(match)}"
    )
    return RelationMatch(
        Thing(key, terms(relation.name), terms(sort), subject.unique), value, relation.change
    )


def _verb(match: re.Match[str]) -> str:
    """The verb with its preposition; what the value is called comes behind it."""
    return match["verb"].split(" the ")[0]


def _subject(relation: Relation, phrase: str) -> Subject | None:
    if relation.people:
        return read_subject(phrase)
    subject = read_subject(phrase)
    if subject is not None and subject.owner.startswith(SPEAKER):
        return None
    return subject or read_kind(phrase)
