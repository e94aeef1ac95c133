"""Reading any plain statement as "somebody does something with something".

Such a statement stands beside all others: one may have, use, play and like many things. It is read
so that a later one can say that it has ended ("I sold the Skoda"), is not so ("I don't like it"),
or has another number ("I now earn 3,700 euros"). Its slot is named by what it is about: the main
noun, whatever the verb.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.ending_events import finished_by, has_afterwards
from fourtier.memory.facts.things import Subject, Thing, read_subject, read_thing, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import DATE_INSIDE, NUMBER_WORDS, Value
from fourtier.memory.facts.words import (
    ADVERB,
    ARRANGED,
    ATTITUDES,
    BELONGING,
    DETERMINERS,
    ENDED_BY_ITSELF,
    ENDING_VERBS,
    LIGHT,
    OCCASION,
    PAST,
    PREPOSITIONS,
    STATES,
    STOPS_OBJECT,
    UNITS,
)
from fourtier.memory.statements.vocabulary import VERBS

_BETWEEN = rf"(?:(?:have|has|had|'ve|had to|am|is|are|was|were|been|got|get|will|can)\s+|{ADVERB})*"
_ENDING = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{ADVERB}(?:(?:have|has|had)\s+)?{ADVERB}(?P<verb>{ENDING_VERBS})"
    r"(?:\s+(?P<object>.+))?$"
)
#: With the particle behind the object: "we gave the dog away".
_ENDING_APART = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{ADVERB}(?:(?:have|has|had)\s+)?{ADVERB}(?P<verb>gave|given"
    rf"|threw|thrown|traded"
    r"|handed|shut|put)\s+(?P<object>(?:my|our|the|his|her|their|[A-Z]\w+'s)\s.{1,40}?)"
    r"\s+(?:(?<!shut\s)away|(?:out|back|in)(?=\s*$|\s+(?:on|last|this|at|to|for|because)\b)"
    r"|down|up\s+for\s+(?:adoption|sale))(?:\s.*)?$"
)
_GONE = re.compile(
    rf"^(?P<subject>(?:my|our|the|My|Our|The)\s.{{1,50}}?"
    rf"|[A-Z]\S+)\s+{_BETWEEN}(?:{ENDED_BY_ITSELF})"
    r"(?:\s+(?:on|last|this|in|because|after|due|by|at|from|yesterday|today|for|when|now|a|two"
    r"|three|and)\b.*)?$"
)
#: Why something ended tells nothing of what it was.
_REASON = re.compile(
    r"\s+(?:for\s+good|completely|altogether|at\s+last|in\s+the\s+end|early|in\s+(?:under|over"
    r"|about|only|less|\d+)|because|due|after|before"
    r"|when|as|so|but|and|since|(?:to|for)\s+(?-i:[a-z]))\b.*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;:()\"]+")
_MEMBER = re.compile(r"^(?:an?\s+)?(?:active\s+)?(?:member|part|fan|user)\s+of\s+")
#: An adjective or a noun before the noun: "a gold member", "a brown belt".
_KIND = re.compile(r"^an?\s+[a-z-]+\s+[a-z]+$")
_MEASURE = re.compile(
    rf"^(?:[$€£]?\d[\d.,]*|{NUMBER_WORDS})\s+(?:\w+\s+)?of\s+(?=\w)", re.IGNORECASE
)
_NUMBER = re.compile(rf"[$€£]?\d[\d.,:]*\d|\d|\b(?:{NUMBER_WORDS})\b", re.IGNORECASE)
#: "I finished a novel" ends nothing that was told of before.
_ANY = re.compile(
    r"^(?:an?|some|several|many|another|one|two|three|four|five|\d+)\s", re.IGNORECASE
)
#: "Paid Aisha back", "handed the thesis in".
_PARTICLE = re.compile(r"(?<=\w)\s+(?:back|in|out|off|up|away|down|over)(?:\s+in\s+full)?$")
_LIKES = terms("like")
_FONDNESS = terms("like love enjoy adore")
_NOBODY = frozenset(["anything", "something", "nothing", "everything", "it", "them", "one"])
_BE = frozenset(["am", "is", "are"])
_AUXILIARIES = _BE | {"can", "could", "have", "has"}
_DEGREES = ("just", "only", "currently", "mostly")
_ADVERBS = frozenset(
    (*_DEGREES, "recently", "finally", "still", "officially", "already", "since", "always", "also")
)
_MAX_SUBJECT = 6
_MAX_WORDS = 25


def read_predicates(text: str) -> Iterator[Triple]:
    """The ways to read a text, the likeliest first."""
    if len(text.split()) <= _MAX_WORDS:
        yield from read_endings(text)
        yield from _done(text)


def read_endings(text: str) -> Iterator[Triple]:
    """What a text says to be over."""
    if (ending := _ENDING_APART.match(text) or _ENDING.match(text)) is not None:
        yield from _ended(ending)
    if (gone := _GONE.match(text)) is not None:
        yield from _gone(gone["subject"])


def _ended(match: re.Match[str]) -> Iterator[Triple]:
    subject = read_subject(match["subject"])
    if subject is None or match["object"] is None or _ANY.match(match["object"]):
        return
    head, said = read_object(_REASON.sub("", OCCASION.sub("", match["object"])))
    if head:
        one = match["verb"].split()[0] in BELONGING
        yield Triple(
            _thing(subject, head),
            Value("any"),
            does=True,
            says=said,
            ended=True,
            one=one,
            holds=False,
        )


def _gone(phrase: str) -> Iterator[Triple]:
    words = phrase.split()
    while len(words) > 2 and words[-1][:1].isupper() and not words[-2][:1].isupper():  # noqa: PLR2004
        words = words[:-1]  # "our cat Misu"
    thing = read_thing(" ".join(words))
    if thing is not None:
        thing = replace(thing, words=thing.words | terms(phrase) - thing.head)
        yield Triple(
            thing, Value("any"), does=True, says=thing.words | thing.head, ended=True, holds=False
        )


def _done(text: str) -> Iterator[Triple]:
    """Behind the shortest phrase that is somebody, the first word that can be a verb."""
    words = text.split()
    for length in range(1, min(len(words), _MAX_SUBJECT + 1)):
        phrase = " ".join(words[:length])
        subject = read_subject(phrase)
        if subject is None:
            continue
        be, verb, said = _verb(words[length:])
        if verb and (be or _is_verb(phrase, verb)):
            yield from _of_verb(subject, be, verb, said)
            return


def _verb(words: list[str]) -> tuple[str, str, str]:
    """An auxiliary, the verb, and what stands behind it."""
    be = ""
    while words and (words[0] in _ADVERBS or (not be and words[0] in _AUXILIARIES)):
        if words[0] in {"have", "has"} and not _is_past(words[1] if len(words) > 1 else ""):
            break
        be = words[0] if words[0] in _AUXILIARIES else be
        words = words[1:]
    if not words or not words[0].islower():
        return "", be if be in _BE else "", " ".join(words)
    if be in _BE and not words[0].endswith("ing"):
        return be, be, " ".join(words)
    return be, words[0], " ".join(words[1:])


def _is_past(word: str) -> bool:
    return word in PAST or word.endswith("ed") or word == "been"


def _of_verb(subject: Subject, be: str, verb: str, text: str) -> Iterator[Triple]:
    if verb in _BE:
        yield from _been(subject, text)
        return
    if verb in {"was", "were", "a", "an", "the", "not", "to", "of"}:
        return
    said = OCCASION.sub("", text)
    head, words = (
        read_object(_PARTICLE.sub("", said)) if said else (frozenset[int](), frozenset[int]())
    )
    stem = _LIKES if terms(verb) & _FONDNESS else terms(verb)
    yield Triple(
        _thing(subject, head or stem),
        Value("any"),
        does=True,
        says=words | stem,
        holds=verb in ARRANGED or be in _BE or not _is_past(verb),
        numbers=frozenset(found[0] for found in _NUMBER.finditer(said)),
        feels=stem if verb in ATTITUDES else frozenset(),
        timed=DATE_INSIDE.search(text) is not None,
        verb=stem,
        finishes=finished_by(verb, said) if head else frozenset(),
        gains=has_afterwards(verb),
    )


def _been(subject: Subject, said: str) -> Iterator[Triple]:
    """So "I am allergic to nuts", "I am a member of the choir"."""
    said = OCCASION.sub("", _MEMBER.sub("", said))
    head, words = read_object(said)
    if head:
        numbers = frozenset(found[0] for found in _NUMBER.finditer(said))
        yield Triple(
            _thing(subject, head),
            Value("any"),
            says=words,
            does=True,
            numbers=numbers,
            is_kind=_KIND.match(said) is not None,
        )


def _is_verb(subject: str, verb: str) -> bool:
    """Whether a word behind a subject can be its verb: any behind "I", else one in its form."""
    if subject.casefold() in {"i", "we"} or subject.endswith(" and I"):
        return True
    return verb.endswith(("s", "ed")) or verb in VERBS


def _thing(subject: Subject, head: frozenset[int]) -> Thing:
    return Thing(
        f"{thing_key(subject.owner, head)}|does", head, frozenset(), False, whose=subject.whose
    )


def read_object(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """The main noun of what a verb has behind it, and all its words; numbers do not count."""
    named = terms(
        " ".join(
            word for word in _all_words(text) if not _NUMBER.search(word) and word not in _NOBODY
        )
    )
    return _head(_noun_phrase(text)), named


def _noun_phrase(text: str) -> list[str]:
    """The words from the first noun to where a preposition or a clause begins."""
    words: list[str] = []
    rest = _WORD.findall(_MEASURE.sub("", _skipped(text)))
    for index, word in enumerate(rest):
        plain = word.casefold()
        if words and plain in PREPOSITIONS and terms(" ".join(words)) <= LIGHT:
            return _noun_phrase(" ".join(rest[index + 1 :]))  # "the trip to Crete"
        if plain in STOPS_OBJECT or (words and plain in PREPOSITIONS | {"a", "an", "per"}):
            break
        if not _NUMBER.fullmatch(word) and plain not in _NOBODY:
            words.append(word)
    return words


def _head(words: list[str]) -> frozenset[int]:
    """The last noun; of a name its first word, and of "Netflix subscription" what it is for."""
    while len(words) > 1 and terms(words[-1]) & (STATES | UNITS):
        words = words[:-1]
    if not words:
        return frozenset()
    if words[-1][:1].isupper():
        names = len(words)
        while names > 1 and words[names - 2][:1].isupper():
            names -= 1
        return terms(words[names - 1])
    return terms(words[-1])


def _skipped(text: str) -> str:
    words = text.split()
    while words and words[0].casefold() in PREPOSITIONS | DETERMINERS:
        words = words[1:]
    return " ".join(words)


def _all_words(text: str) -> list[str]:
    """The words up to where something else is said."""
    words: list[str] = []
    for word in text.replace(",", " , ").split():
        if word in {",", "because", "so", "but", "and", "since", "after", "before"}:
            break
        words.append(word)
    return words
