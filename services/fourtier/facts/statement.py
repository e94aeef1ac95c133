"""Reading a plain statement as "subject and attribute: value", without a model.

Only statements of a thing that has one value at a time are read: "my budget for the trip is 10,000
dollars", "I live in Oslo", "the capital of X is Y". All others, such as likes and events, are facts
that stand beside each other.
"""

import re
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms

_NOW = re.compile(
    r"\b(?:now|currently|as of (?:now|today)|from now on|instead|actually)\b", re.IGNORECASE
)
_IS = re.compile(
    r"^(?P<thing>.{2,160}?)\s+"
    r"(?:is|are|was|were|has been|will be|(?:has |have )?(?:changed|moved|increased|decreased|gone"
    r"|grown|risen|fallen|dropped) (?:up |down )?(?:from .+? )?to)\s+"
    r"(?P<value>.+)$",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"^(?P<who>i|we|[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)\s+"
    r"(?P<verb>live in|lives in|moved to|work at|works at|work for|works for|work as|works as)\s+"
    r"(?P<value>.+)$",
    re.IGNORECASE,
)
_VERBS = {
    "live in": "home",
    "lives in": "home",
    "moved to": "home",
    "work at": "employer",
    "works at": "employer",
    "work for": "employer",
    "works for": "employer",
    "work as": "job",
    "works as": "job",
}
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|our|we|i'm)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
#: Words before the verb that make it no statement of one value.
_NOT_ONE_THING = re.compile(
    r"^(?:it|this|that|these|those|there|they|he|she|what|who|where|when|why|how|one of)\b",
    re.IGNORECASE,
)

#: A name as short as one term ("my brother") fits too many things to be taken for the same one.
_LEAST_TERMS = 2
#: Jaccard overlap of two names of one thing.
_LEAST_OVERLAP = 0.75


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of what.

    Attributes:
        thing: the terms that name the thing.
        value: the words of its value.
        numeric: whether the value has a number in it.
    """

    thing: frozenset[int]
    value: str
    numeric: bool


def parse(content: str, speaker: str) -> Statement | None:
    """Read a statement; None when it is not one of a single-valued thing."""
    text = " ".join(_NOW.sub(" ", content).split()).strip(" ,.!")
    owner = speaker if _FIRST_PERSON.search(text) else ""
    if (match := _VERB.match(text)) is not None:
        who = owner if _FIRST_PERSON.fullmatch(match["who"]) else match["who"]
        thing = f"{who} {_VERBS[match['verb'].casefold()]}"
    elif (match := _IS.match(text)) is not None and not _NOT_ONE_THING.match(text):
        thing = f"{owner} {match['thing']}"
    else:
        return None
    value = match["value"].strip()
    return Statement(terms(thing), value, bool(_NUMBER.search(value)))


def same_thing(one: Statement, other: Statement) -> bool:
    """Whether both name one thing, and give it values of one kind."""
    if one.numeric != other.numeric:
        return False
    smaller, larger = sorted((one.thing, other.thing), key=len)
    shared = len(smaller & larger)
    if shared == len(smaller):
        return shared >= _LEAST_TERMS
    return shared / len(one.thing | other.thing) >= _LEAST_OVERLAP
