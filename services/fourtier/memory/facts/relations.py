"""Verbs that tell one value at a time of somebody or something: "lives in", "was founded by".

Verbs that may be true of many things at once (like, know, visit, own, speak) are not here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import SPEAKER, Subject, Thing, read_kind, read_subject, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Kind, read_value
from fourtier.memory.facts.words import ADVERB, OCCASION, ORGANISATION, PROFESSION

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
_MEASURED = r"(?=\s+(?:about\s+|around\s+)?\d[\d.,]*\s*"
_PURPOSE = re.compile(r"\s+(?:for|due|to\s+be|because)\s+.*$")
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
#: "A nurse at the hospital" tells the employer too.
_AT = re.compile(r"\s(?:at|in|for|with)\s")
_WORKPLACE = frozenset([thing_key("", terms("employer"))[1:]])
_LONG_PAST = re.compile(r"\b(?:in|since) (?:19|20)\d\d\b|\blast year\b")

_NAMES: frozenset[Kind] = frozenset(["name"])
_NAMES_AND_TIMES: frozenset[Kind] = frozenset(["name", "time", "number"])
_TEXTS: frozenset[Kind] = frozenset(["name", "words"])
_TEXTS_AND_PLACES: frozenset[Kind] = frozenset(["name", "words", "place"])
_NUMBERS: frozenset[Kind] = frozenset(["number"])
_NAMES_AND_NUMBERS: frozenset[Kind] = frozenset(["name", "number"])


@dataclass(frozen=True, slots=True)
class Relation:
    """One verb phrase.

    Attributes:
        name: those of one name tell the same, as does the noun: "works at", "my employer is";
            empty where the verb itself is the name.
        kinds: of values; others make it another statement ("lives in fear").
        change: whatever was said before holds no longer.
        articled: the value has an indefinite article: "at a bakery".
        people: the subject is somebody; otherwise it may be a kind of thing, never the speaker.
    """

    name: str
    phrase: re.Pattern[str]
    kinds: frozenset[Kind]
    change: bool
    people: bool
    articled: bool = False


def _relation(
    name: str,
    verb: str,
    kinds: frozenset[Kind] = _NAMES,
    *,
    change: bool = False,
    people: bool = True,
    articled: bool = False,
) -> Relation:
    text = rf"^(?P<subject>.+?)\s+{ADVERB}(?P<verb>{verb})\s+(?P<value>.+)$"
    return Relation(name, re.compile(text), kinds, change, people, articled)


_RELATIONS = (
    _relation(
        "home",
        rf"(?:lives?|(?:have|has)\s+lived|resides?|{_BE}\s+(?:living"
        rf"|based))\s+(?:alone\s+)?(?:in|at)",
        _NAMES_AND_NUMBERS,
    ),
    _relation(
        "home",
        rf"(?:lives?|{_BE}\s+living)\s+in\s+(?:an?|the|our|my)\s+(?:[\w-]+\s+){{1,4}}?(?:in"
        rf"|near)(?=\s+[A-Z])",
    ),
    _relation(
        "home",
        rf"{_HAVE}{ADVERB}(?:moved|relocated)"
        r"(?:\s+(?:back|out|away|house))?(?:\s+from\s+(?P<before>[A-Z]\S*))?\s+to",
        change=True,
    ),
    _relation(
        "home",
        rf"{_HAVE}{ADVERB}moved\s+(?:back\s+)?in\s+with\s+[\w\s'-]{{2,30}}?\s+in",
        change=True,
    ),
    _relation("employer", rf"(?:works?|{_BE}\s+working)\s+(?:at|for)"),
    _relation(
        "employer",
        rf"(?:works?|{_BE}\s+working)\s+(?:at|for|in)(?=\s+(?:an?"
        rf"|the)\s+(?:[\w-]+\s){{0,3}}?{ORGANISATION}\b)",
        _TEXTS,
        articled=True,
    ),
    _relation("employer", rf"(?:works?|{_BE}\s+working)\s+(?:at|for)(?=\s+(?:an?|the)\s)", _TEXTS),
    _relation(
        "employer",
        rf"{_HAVE}{ADVERB}(?:moved|switched|went|changed|transferred)\s+(?:over\s+)?to"
        rf"(?=\s+(?:an?|the)\s+(?:[\w-]+\s){{0,3}}?{ORGANISATION}\b)",
        _TEXTS,
        change=True,
        articled=True,
    ),
    _relation("employer", rf"{_BE}\s+employed\s+(?:at|by)"),
    _relation(
        "employer",
        rf"{_HAVE}{ADVERB}(?:(?:started|began)(?:\s+working|\s+(?:a|my)\s+(?:new\s+)?job)?"
        r"|(?:got|found|took|landed|accepted)\s+(?:a|my|the)\s+(?:new\s+)?job|switched\s+jobs"
        r"|joined)"
        r"\s+(?:(?:at|with|for|in|to(?=\s+(?:the\s|[A-Z])))(?=\s)|(?<=joined))",
        _TEXTS,
        change=True,
        articled=True,
    ),
    _relation("job", rf"(?:works?|{_BE}\s+working)\s+as\s+(?:an?|the)", _TEXTS),
    _relation(
        "job",
        rf"{_BE}\s+(?:an?|(?<=am\s)the)(?=\s+(?:[a-z]+\s){{0,2}}{PROFESSION}\b)",
        _TEXTS_AND_PLACES,
    ),
    _relation("job", rf"{_HAVE}(?:was\s+|am\s+|been\s+|got\s+)?promoted\s+to", _TEXTS, change=True),
    _relation("spouse", rf"{_BE}\s+(?:married|engaged)\s+to"),
    _relation(
        "",
        rf"{_BE}\s+(?:insured|registered|signed|contracted|covered|represented|treated|coached"
        rf"|sponsored|enrolled)\s+(?:with|by|at)",
    ),
    _relation("whereabouts", r"(?:am|(?<=[Ww]e\s)are)\s+in(?=\s+[A-Z])", articled=True),
    _relation("boss", r"reports?\s+to"),
    _relation("university", rf"(?:studies|study|{_BE}\s+studying)\s+at"),
    _relation("major", rf"(?:majors?|{_BE}\s+majoring)\s+in", _TEXTS),
    _relation("citizenship", rf"{_BE}\s+an?\s+(?:citizen|national|resident)\s+of"),
    _relation("age", rf"{_BE}(?=\s+\d{{1,3}}(?:\s+years?(?:\s+old)?)?$)", _NUMBERS),
    _relation(
        "age", rf"{_HAVE}turned(?=\s+\d{{1,3}}(?:\s+years?(?:\s+old)?)?$)", _NUMBERS, change=True
    ),
    _relation(
        "weight",
        rf"(?:weighs?|{_BE}){_MEASURED}(?:kg|kilos?|kilograms?|pounds?|lbs?|stone)\b)",
        _NUMBERS,
    ),
    _relation(
        "height", rf"(?:{_BE}){_MEASURED}(?:cm|m|metres?|meters?|centimetres?|feet)\b)", _NUMBERS
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


def read_relations(text: str, *, cased: bool) -> Iterator[Triple]:
    """What the verbs of a text tell, the likeliest first."""
    undated = OCCASION.sub("", text)
    for relation in _RELATIONS:
        match = relation.phrase.match(text)
        if match is None and undated != text:
            match = relation.phrase.match(undated)
        if match is not None and not (relation.change and _LONG_PAST.search(text)):
            triple = _read(relation, match, cased=cased)
            if triple is not None:
                yield triple


def _read(relation: Relation, match: re.Match[str], *, cased: bool) -> Triple | None:
    subject = _subject(relation, match["subject"])
    sort = match.groupdict().get("sort") or ""
    said = match["value"] if "time" in relation.kinds else OCCASION.sub("", match["value"])
    if relation.change:
        said = _PURPOSE.sub("", said) or said
    if relation.articled:
        said = _ARTICLE.sub("", said)
    value = read_value(said, cased=cased, sorted_out=bool(sort))
    if subject is None or value is None or value.kind not in relation.kinds:
        return None
    key = (
        thing_key(subject.owner, terms(relation.name))
        if relation.name
        else f"{subject.owner}|{_verb(match)}"
    )
    one = subject.unique and not relation.articled  # at a bakery, and at a bar in the evening
    return Triple(
        Thing(key, terms(relation.name), terms(sort), one, whose=subject.whose),
        value,
        relation.change,
        also=_WORKPLACE if relation.name == "job" and _AT.search(said) else frozenset(),
        says=terms(said),
        begun=relation.change,
        wrong=terms(match.groupdict().get("before") or ""),
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
