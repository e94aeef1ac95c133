"""Reading a plain English statement as "this thing has that value", without a model.

Read are only statements of a thing that has one value at a time: "my budget for the trip is 10,000
dollars", "I live in Oslo", "the capital of X is Y". All others, such as likes, events, plans and
denials, are facts that stay valid: to hide a true memory is worse than to show two.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.relations import read_relation
from fourtier.memory.facts.things import (
    Thing,
    plain,
    read_attribute,
    read_subject,
    read_thing,
    thing_key,
)
from fourtier.memory.facts.values import Value, comparable, read_value
from fourtier.memory.facts.words import (
    ADVERB,
    CHANGE,
    DATED,
    OPENING,
    UNSURE,
    takes_any_words,
)

_IS = re.compile(rf"\s(?P<number>is|are)\s+{ADVERB}", re.IGNORECASE)
#: A noun and a verb that name a thing together: "the course starts on Monday".
_DOES = re.compile(
    rf"^(?P<thing>.{{2,120}}?)\s+{ADVERB}(?P<verb>costs|weighs|measures|lasts|takes|starts|begins"
    r"|ends|opens|closes|leaves|departs|arrives)\s+(?P<value>.+)$"
)
_CHANGED = "changed|moved|increased|decreased|raised|lowered|cut|extended|reduced|postponed"
_CHANGED_TO = r"(?:up\s+|down\s+|back\s+)?(?:from\s+.+?\s+)?to\s+(?P<value>.+)$"
_BECAME = re.compile(
    r"^(?P<thing>.{2,160}?)\s+(?:(?:has|have|was|were|got|been|just)\s+)*"
    rf"(?:{_CHANGED}|gone|went|grown|grew|risen|rose|fallen|fell|dropped"
    rf"|rescheduled|pushed|renamed|updated|set)\s+{_CHANGED_TO}",
)
_MADE_IT = re.compile(
    r"^(?:[Ii]|[Ww]e)\s+(?:(?:have|had|just|recently)\s+)*"
    rf"(?:{_CHANGED}|rescheduled|pushed|renamed|updated|set|bumped|upped|adjusted|switched)\s+"
    rf"(?:up\s+|down\s+)?(?P<thing>(?:my|our|the)\s.{{2,120}}?)\s+{_CHANGED_TO}",
)
_COUNT = re.compile(
    rf"^(?P<subject>.{{1,60}}?)\s+{ADVERB}(?:have|has|own|owns)\s+"
    r"(?P<value>\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+"
    r"(?P<counted>[a-z]+(?:\s[a-z]+)?)$"
)
_ABBREVIATED = r"(?<!\b(?:Mr|Ms|Dr|St|Jr|Sr|Mt|Co|No))(?<!\b(?:Mrs|Inc|Ltd|Rev|Gen|Col))(?<!\bProf)"
_SENTENCES = re.compile(rf"(?:[a-z0-9)\"']{{2}}|\b[A-Za-z]{{3,}}){_ABBREVIATED}[.!?]+\s+[A-Z]")
_SPACE = re.compile(r"\s+")
_FULL_FORMS = (
    (re.compile(r"\b([Ii])'m\b"), r"\1 am"),
    (re.compile(r"\b([Ii]|[Ww]e)'ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e)'re\b"), r"\1 are"),
    (re.compile(r"^(?:[Tt]he )?[Uu]ser's\b"), "My"),
    (re.compile(r"^(?:[Tt]he )?[Uu]ser\b"), "I"),
)
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Triple:
    """What is said of what.

    Attributes:
        change: the statement says itself that something has changed.
        attribute: in its plain form, where the statement came with one.
    """

    thing: Thing
    value: Value
    change: bool = False
    attribute: str = ""


@lru_cache(maxsize=20_000)
def read_triple(content: str) -> Triple | None:
    """Read a statement; None when it is not one of a thing with one value at a time."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", content).replace("\u2019", "'")).strip(
        " .!,"
    )
    if len(text) > _LONGEST or _SENTENCES.search(text):
        return None
    cased = any(character.isupper() for character in text)
    for form, full in _FULL_FORMS:
        text = form.sub(full, text)
    opening = OPENING.match(text)
    change = CHANGE.search(text) is not None
    if opening is not None:
        change = change or opening["change"] is not None
        text = text[opening.end() :]
    if UNSURE.search(text):
        return None
    text = _SPACE.sub(" ", CHANGE.sub(" ", text)).strip(" ,.!")
    for triple in _readings(text, cased=cased):
        return Triple(triple.thing, triple.value, triple.change or triple.thing.change or change)
    return None


def _readings(text: str, *, cased: bool) -> Iterator[Triple]:
    """The ways to read a text, the most specific first."""
    for relation in read_relation(text, cased=cased):
        yield Triple(relation.thing, relation.value, relation.change)
    if (count := _COUNT.match(text)) is not None:
        yield from _of_count(count)
    if (became := _BECAME.match(text) or _MADE_IT.match(text)) is not None:
        triple = _of_noun(became["thing"], became["value"], cased=cased)
        if triple is not None:
            yield replace(triple, change=True)
    if (does := _DOES.match(text)) is not None:
        triple = _of_noun(does["thing"], does["value"], cased=cased)
        if triple is not None and triple.value.kind in {"number", "time"}:
            key = f"{triple.thing.key}|{','.join(map(str, terms(does['verb'])))}"
            yield replace(triple, thing=replace(triple.thing, key=key))
    for verb in _IS.finditer(text):
        yield from _of_being(text[: verb.start()], verb, text[verb.end() :], cased=cased)


def _of_count(match: re.Match[str]) -> Iterator[Triple]:
    """A later count replaces the first only where it says that something changed."""
    subject = read_subject(match["subject"])
    if subject is not None:
        head = terms(match["counted"])
        key = thing_key(f"{subject.owner}|number of", head)
        yield Triple(Thing(key, head, frozenset(), unique=False), Value("number"))


def _of_being(phrase: str, verb: re.Match[str], said: str, *, cased: bool) -> Iterator[Triple]:
    triple = _of_noun(phrase, said, cased=cased)
    if triple is None:
        return
    thing, value = triple.thing, triple.value
    if value.kind == "words" and not takes_any_words(thing.head, thing.words):
        return
    dated = value.kind != "time" or bool((thing.head | thing.words) & DATED)
    one = verb["number"].casefold() == "is"
    yield replace(triple, thing=replace(thing, unique=thing.unique and dated and one))


def _of_noun(phrase: str, said: str, *, cased: bool) -> Triple | None:
    value = read_value(said, cased=cased)
    if value is not None and value.kind in {"number", "time"}:
        # "2,000 dollars for the trip": what it is for belongs to the name.
        said, also, purpose = said.partition(" for ")
        phrase, value = f"{phrase}{also}{purpose}", read_value(said, cased=cased)
    thing = read_thing(phrase)
    return Triple(thing, value) if thing is not None and value is not None else None


def explicit_triple(subject: str, attribute: str) -> Triple:
    """The triple of a statement that comes with its subject and attribute."""
    return Triple(read_attribute(subject, attribute), Value("any"), attribute=plain(attribute))


def may_replace(newer: Triple, older: Triple) -> bool:
    """Whether the older one is not true any more if both are about one thing."""
    return (
        comparable(newer.value, older.value)
        and older.value.whole
        and (newer.change or (newer.thing.unique and older.thing.unique))
    )
