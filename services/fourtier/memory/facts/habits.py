"""Where, when and how somebody does what they do: "I sleep in the attic", "we milk at five".

A later one takes the place of the first where it says that something has changed; else both stay.
"""

import re
from collections.abc import Iterator

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.predicates import read_object
from fourtier.memory.facts.things import Thing, read_subject, read_whole, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import NUMBER_WORDS, Kind, Value
from fourtier.memory.facts.words import ADVERB, OCCASION, PAST, PREPOSITIONS
from fourtier.memory.statements.vocabulary import VERBS

_SUBJECT = (
    r"^(?P<subject>(?:(?:[Tt]he|[Mm]y|[Oo]ur)\s)?\S.{0,50}?)"
    rf"\s+{ADVERB}(?:(?:am|is|are)\s+)?{ADVERB}"
)
_CLOCK = (
    r"(?:about\s+|around\s+)?(?:(?:half\s+past|(?:a\s+)?quarter\s+(?:past|to))\s+)?"
    rf"(?:\d{{1,2}}(?:[:.]\d\d)?(?:\s?(?:am|pm))?|{NUMBER_WORDS}|noon|midnight)"
    r"(?:\s+(?:in\s+the\s+(?:morning|afternoon|evening)|o'clock|sharp))?"
)
#: What one does in one place at a time, as a rule.
_PLACED = re.compile(
    _SUBJECT
    + r"(?P<verb>liv|sit|sleep|stay|park|rehears|practis|practic|train|meet|camp|shop|exercis"
    r"|stand|record|hik|ski|swim|sail|climb|surf|jog|paint|writ|study|cook|eat|lunch|perform"
    r"|lectur|volunteer)"
    r"(?:e|s|es|ing|ting|ping|ning|ming|ying)?\s+(?:upstairs\s+|downstairs\s+)?"
    r"(?P<value>(?:(?<!live )(?<!lives )(?<!living )(?:in|at)|on|near|above|below|next\s+to"
    r"|beside|behind|opposite|under|outside|by|between)"
    r"\s+\S.{0,50})$"
)
#: Whom one lives or stays with.
_COMPANY = re.compile(
    _SUBJECT
    + r"(?P<verb>liv|stay|fly|flie|travel)(?:e|es|s|ing|ling)?\s+(?P<value>alone|by\s+\w+self"
    r"|with\s+(?!it\b|that\b|this\b)\S.{0,40})$"
)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIMED = re.compile(
    _SUBJECT + rf"(?P<does>(?!(?:is|are|am)\b)[a-z]+(?:\s+(?!(?:is|are"
    rf"|am)\b)[\w'-]+){{0,4}}?)\s+(?:at\s+(?P<value>{_CLOCK})"
    rf"|on\s+(?P<days>(?i:{_DAYS}(?:(?:\s+and\s+|,\s+){_DAYS})*)))$"
)
_COMMUTE = re.compile(
    _SUBJECT + r"(?P<how>(?:drive|driv|cycle|cycl|walk|bike|bik|commute|commut|ride|run)(?:s|ing)?"
    r"|(?:take|tak|get|go|catch|ride|rid)(?:s|es|ing"
    r"|ting)?\s+[\w\s-]{2,30}?)\s+to\s+(?P<where>work|school"
    r"|university|college|uni|campus|class|(?:the|my)\s+(?:office|clinic|studio|gym))"
    r"(?P<by>\s+(?:by|on|in)\s+[\w\s]{2,20})?$"
)
#: How much, and in which hours, somebody works.
_WORKS = re.compile(
    _SUBJECT + r"(?:work|working|works)\s+(?:(?:part"
    r"|full)[\s-]time,\s+)?(?:(?P<hours>\d{1,2}\s+(?P<unit>hours|days|shifts)"
    r"\s+(?:a|per)\s+(?:day|week|month))|(?P<value>(?:part|full)[\s-]time|nights|days|evenings"
    r"|weekends|mornings"
    r"|afternoons|remotely|freelance|from\s+home|early\s+shifts?|late\s+shifts?|night\s+shifts?"
    r"|day\s+shifts?"
    r"|in\s+the\s+office))$"
)
_CLOCK_ONLY = re.compile(rf"^(?:at|by)\s+{_CLOCK}$")
_BE = frozenset(["is", "are", "am", "was", "were", "have", "been"])


def read_habits(text: str) -> Iterator[Triple]:
    """The ways to read a text, the likeliest first."""
    if (commute := _COMMUTE.match(OCCASION.sub("", text))) is not None:
        how = terms(f"{commute['how']} {commute['by'] or ''}")
        yield from _habit(commute, f"to {commute['where']}", "how", "words", how)
    if (works := _WORKS.match(text)) is not None:
        if works["hours"]:
            yield from _habit(works, "work", f"{works['unit']}", "number", terms(works["hours"]))
        else:
            yield from _habit(works, "work", "how", "words", terms(f"works {works['value']}"))
    if (company := _COMPANY.match(text)) is not None:
        yield from _habit(company, company["verb"], "with whom", "any", terms(company["value"]))
    if (placed := _PLACED.match(text)) is not None and not _CLOCK_ONLY.match(placed["value"]):
        yield from _habit(placed, placed["verb"], "where", "place", terms(placed["value"]))
    if (timed := _TIMED.match(text)) is not None and _is_done(timed["subject"], timed["does"]):
        if read_subject(timed["subject"]) is None and not timed["does"].split()[0].endswith("ing"):
            return  # what things do of themselves has another name
        days, clock = timed["days"], timed["value"]
        side = "on which days" if days else "at what time"
        yield from _habit(timed, timed["does"], side, "time", terms(days or clock))


def _habit(
    match: re.Match[str], does: str, side: str, kind: Kind, says: frozenset[int]
) -> Iterator[Triple]:
    """Of the slot of what it is about, as are all other things that are done with it."""
    subject = read_subject(match["subject"]) or read_whole(match["subject"])
    verb, _, rest = does.partition(" ")
    head, _ = read_object(rest) if rest else (frozenset[int](), frozenset[int]())
    stems = terms(does)
    if subject is not None and (head or terms(verb)):
        key = f"{thing_key(subject.owner, head or terms(verb))}|{side}"
        thing = Thing(key, head, stems, unique=False, whose=subject.whose)
        yield Triple(thing, Value(kind), says=says or terms("here"))


def _is_done(subject: str, does: str) -> bool:
    """Whether the words behind somebody are what that person does as a rule."""
    words = does.split()
    if words[0] in PREPOSITIONS or _BE & set(words) or words[0] in PAST or words[0].endswith("ed"):
        return False
    return subject in {"I", "We", "we"} or words[0].endswith(("s", "ing")) or words[0] in VERBS
