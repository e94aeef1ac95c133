"""Reading "a thing is a value": "my budget is 10,000 dollars", "the course starts on Monday"."""

import re
from collections.abc import Iterator
from dataclasses import replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import Thing, read_subject, read_thing, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Value, is_name, read_value
from fourtier.memory.facts.words import ADVERB, DATED, OCCASION, PERSONS, takes_any_words

_IS = re.compile(rf"\s(?P<number>is|are)\s+{ADVERB}", re.IGNORECASE)
#: A noun and a verb that name a thing together: "the course starts on Monday".
_DOES = re.compile(
    rf"^(?P<thing>.{{2,120}}?)\s+{ADVERB}(?P<verb>costs?|weighs?|measures?|lasts?|takes?"
    rf"|starts?|begins?"
    r"|ends?|opens?|closes?|leaves?|departs?|arrives?|expires?|lands?|needs?)\s+(?P<value>.+)$"
)
_COUNT = re.compile(
    rf"^(?P<subject>.{{1,60}}?)\s+{ADVERB}(?:have|has|own|owns)\s+"
    r"(?P<value>\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+"
    r"(?P<counted>[a-z]+(?:\s[a-z]+)?)$"
)
#: One that is known by a name or from before, and not what something is like.
_NAMED = re.compile(r"(?:the\s+(?!same|best|worst|only|most|first|last)|[A-Z\d])")
#: "A pint costs 5.20": each one of them does.
_ANY_ONE = re.compile(r"^(?:An?|One|Each|Every)\s")
#: Where it belongs, and nowhere else any more.
_BACK = re.compile(r"^(?:back|home|back\s+home)$")
#: What somebody is of us, or of something.
_ROLE = re.compile(r"^(?:(?:my|our|the)|(?-i:[A-Z])\w+'s)\s+(?:new\s+)?[a-z]", re.IGNORECASE)


def read_counts(text: str) -> Iterator[Triple]:
    """How many of something somebody has.

    A later count replaces the first only where it says that something changed.
    """
    if (count := _COUNT.match(text)) is None:
        return
    head, numbers = terms(count["counted"]), frozenset([count["value"]])
    value = Value("number", head)
    subject = read_subject(count["subject"])
    whole = read_thing(count["subject"])
    if whole is not None and not whole.head & PERSONS:
        # Of a thing it is one of its sides: "has grown to 19 people" may tell it too.
        thing = whole.side(f"number of {','.join(map(str, sorted(head)))}")
    elif subject is not None:
        key = f"{thing_key(subject.owner, head)}|number of"
        thing = Thing(key, head, frozenset(), unique=False, whose=subject.whose)
    else:
        return
    yield Triple(thing, value, says=terms(count["value"]), numbers=numbers)


def read_times(text: str, *, cased: bool) -> Iterator[Triple]:
    """When a thing starts, ends or leaves, and what it costs or weighs."""
    if (does := _DOES.match(text)) is not None:
        one = _ANY_ONE.sub("The ", does["thing"])
        triple = of_noun(one, does["value"], cased=cased)
        if triple is not None and triple.value.kind in {"number", "time"}:
            key = f"{triple.thing.key}|{','.join(map(str, terms(does['verb'])))}"
            yield replace(triple, thing=replace(triple.thing, key=key))


def read_being(text: str, *, cased: bool) -> Iterator[Triple]:
    """What a thing is."""
    for verb in _IS.finditer(text):
        yield from _of_being(text[: verb.start()], verb, text[verb.end() :], cased=cased)


def _of_being(phrase: str, verb: re.Match[str], said: str, *, cased: bool) -> Iterator[Triple]:
    if is_name(phrase) and _ROLE.match(said):  # "Sven is our captain"
        phrase, said = said, phrase
    triple = of_noun(phrase, said, cased=cased)
    if triple is None:
        return
    thing, value = triple.thing, triple.value
    if value.kind == "number" and not value.unit and thing.head & DATED:
        value = Value("time", whole=value.whole)  # "bedtime is 7"
        triple = replace(triple, value=value)
    if _BACK.match(said):
        yield replace(triple, value=Value("place"), change=True)
        return
    if value.kind == "words" and not takes_any_words(thing.head, thing.words):
        # What it is like stands beside all else that it is like, until it is not.
        named = _NAMED.match(said) is not None
        yield replace(triple, thing=thing.side("is"), does=True, named=named)
        return
    dated = value.kind != "time" or bool((thing.head | thing.words) & DATED)
    one = verb["number"].casefold() == "is"
    yield replace(triple, thing=replace(thing, unique=thing.unique and dated and one))


def of_noun(phrase: str, said: str, *, cased: bool) -> Triple | None:
    """What a noun phrase is said to be; None where it names no thing, or what is said no value."""
    value = read_value(said, cased=cased)
    if value is None and OCCASION.search(said):
        said = OCCASION.sub("", said)
        value = read_value(said, cased=cased)
    if value is not None and value.kind in {"number", "time"}:
        # "2,000 dollars for the trip": what it is for belongs to the name.
        said, also, purpose = said.partition(" for ")
        phrase, value = f"{phrase}{also}{purpose}", read_value(said, cased=cased)
    thing = read_thing(phrase)
    if thing is None or value is None:
        return None
    return Triple(thing, value, says=terms(said))
