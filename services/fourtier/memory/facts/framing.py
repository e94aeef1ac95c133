"""The grammar of change: what a statement says about holding, ending and being right.

"I don't play tennis any more" is "I play tennis", ended; "the flight leaves at 8:15, not 7:40" is
"the flight leaves at 8:15", and 7:40 is wrong. What is left of the text is a plain statement.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.conditions import in_plain_words, opposite
from fourtier.memory.facts.words import CHANGE

_BE = r"(?:am|is|are)"
_BETWEEN = r"(?:\s+(?:have|has|had|just|finally|recently|now|since|already|had to|actually))*"
_ANY_MORE = re.compile(
    r"^(?P<subject>.+?)\s+(?P<verb>do|does|am|is|are|can|have|has|will)(?:n't|\s+not)\s+"
    r"(?P<rest>.+?)[\s,]+(?:any\s?more|any\s+longer)\b.*$"
)
_NO_LONGER = re.compile(
    r"^(?P<subject>.+?)\s+(?:(?P<verb>am|is|are|can)\s+|(?:has|have|will)\s+)?(?:no\s+longer"
    r"|now\s+no"
    r"\s+longer)\s+(?:be\s+)?(?P<rest>.+)$"
)
_STOPPED = re.compile(
    rf"^(?P<subject>.+?){_BETWEEN}\s+(?:stopped|quit|gave\s+up|given\s+up|ceased|stop|done)\s+"
    r"(?P<rest>\w+ing\b.*)$"
)
_STARTED = re.compile(
    rf"^(?P<subject>.+?){_BETWEEN}\s+(?:started|begun|resumed|taken\s+up|took\s+up"
    rf"|gone\s+back\s+to|went\s+back\s+to)\s+"
    r"(?P<rest>(?!working\s+(?:at|for|in)\b)\w+ing\b.*)$"
)
_USED_TO = re.compile(
    r"^(?P<subject>.+?)(?<!\bam)(?<!\bis)(?<!\bare)(?<!get)(?<!got)(?<!getting)\s+used\s+to\s+(?P<rest>.+)$"
)
_UNTRUE = re.compile(
    r"^it\s+is\s+(?:no\s+longer\s+true|not\s+true(?:\s+any\s?more)?)\s+that\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"^(?P<subject>.{1,60}?)\s+(?P<verb>do|does|am|is|are|can)"
    r"(?:n't|not|\s+not|\s+never)\s+(?P<rest>.+)$"
)
#: "I never eat fish"; "I have never been there" tells of the past.
_NEVER = re.compile(
    r"^(?P<subject>.{1,40}?)\s+never\s+(?P<rest>(?!had\b|got\b|been\b)[a-z]+(?<!ed)\b.*)$"
)
#: "not 7:40" behind a comma, "instead of XML"; what follows another comma says why.
_WRONG = re.compile(
    r"(?:,\s*(?:and\s+)?not(?!\s+(?:just|only|even|really|to)\b)|\s+(?:instead\s+of"
    r"|rather\s+than|in\s+place\s+of))\s+"
    r"(?P<wrong>[^,;]{1,60}?)(?P<after>,.*)?$"
)
_MAX_WRONG = 6
#: Makes another statement of it: what holds in summer says nothing of the rest of the year.
_WHEN = re.compile(
    r"\b(?:in|during|every|each|over|for)\s+(?:the\s+)?(?P<season>summer|winter|spring|autumn"
    r"|fall|morning"
    r"|afternoon|evening|night|holidays?|week|term)s?\b"
    r"|\b(?:on|at|over)\s+(?:the\s+|my\s+)?(?P<days>weekends?|weekdays?|vacation|holidays?|night)\b"
    r"|\b(?:at|in)\s+(?:the\s+)?(?P<place>home|work|office|school|cabin)\b"
    r"|\b(?P<now>this\s+(?:week|month|weekend|summer|winter|year)|today|tonight|tomorrow|for\s+now"
    r"|temporarily|for\s+(?:a|two|three|the\s+next)\s+(?:\w+\s+)?(?:day|week|month|year|while"
    r"|bit|hour)s?)\b",
    re.IGNORECASE,
)
#: "At five in the morning" is a time, and no part of the day to which it is limited.
_AT_CLOCK = re.compile(r"\bat\s+[\w: ]{1,20}?\s+in\s+the\s+(?:morning|afternoon|evening)\b")
_DAYS = re.compile(
    r"(?<!\bis )(?<!\bare )\bon\s+(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\d|\b(?:at|until|till|from)\s+(?:noon|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve)\b"
)
_LEADING_WHEN = re.compile(
    r"^(?:(?:in|during|at|on|over|every|from|since)\s+(?:the\s+)?[\w-]+(?:\s+\w+)?(?:\s+on)?,?\s+)"
    r"(?=(?:I|we|We|my|My|our|the|i)\s)",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{_BE}\s+(?:all\s+)?out\s+of\s+(?!order|service|office|town"
    rf"|work|hospital|here|bed|date|touch|reach|the\b|my\b|our\b|control|season|shape|print"
    rf"|stock|hand|place|time|luck|bounds|warranty)"
    r"(?P<rest>[a-z][\w\s-]{1,30})$"
)
#: "Flat 12 has no hot water".
_HAS_NO = re.compile(
    r"^(?P<subject>.{1,50}?)\s+(?P<verb>have|has)\s+no\s+(?!idea|longer|more|one|way|doubt)(?P<rest>[a-z].*)$"
)
_IRREGULAR = {"have": "has", "be": "is"}
_GOING_TO = re.compile(r"am\s+(?:going|coming)\s+to\s+")
_WITHOUT = re.compile(r"\swithout\s(?!\w+ing\b)")
_HATES = re.compile(
    r"^(?P<subject>.{1,40}?)\s+(?:really\s+|absolutely\s+)?(?:hates?|dislikes?|detests?"
    r"|despises?|can\s+not\s+stand)\s+(?P<rest>.+)$"
)
#: From where somebody is back; absences that have a name of their own are states.
_BACK = re.compile(
    rf"^(?P<subject>.{{1,40}}?\s{_BE})\s+back\s+(?:home\s+)?from\s+(?!(?:\w+\s+){{0,2}}(?:holidays?|vacation"
    r"|leave|sabbatical|hospital|rehab|honeymoon|trip|strike)\b)(?P<rest>.+)$"
)
_OFF = re.compile(
    rf"^(?P<subject>.{{1,40}}?)\s+{_BE}\s+off\s+(?!to\b|on\b|in\b|the\b|work\b)(?P<rest>.+)$"
)
_AGAIN = re.compile(r"\bagain\b", re.IGNORECASE)


def _as_name(found: re.Match[str]) -> str:
    return f"{found[1]} {(found[2] or '').upper()}"


#: Other words for the same, by the ones that are read.
_PLAINER = (
    (
        re.compile(r"\b(is|are)\s+(?:called|named)\s+(?:(?=[A-Z])|(\w)(?=\w*(?:\s+now)?$))"),
        _as_name,
    ),
    (
        re.compile(r"\b(I|we|We)\s+(?:am|are)\s+(?:down|up)\s+to\s+(?=\w+\s+(?!kilo|kg|pound))"),
        r"\1 now have ",
    ),
    (re.compile(r"\bis\s+worth\s+"), "is "),
    # What is announced from a day on.
    (
        re.compile(
            r"\bwill\s+be\s+(?=[^,;]*\b(?:from|starting|as\s+of)\s+(?:\d|[A-Z]|next\b|tomorrow\b))"
        ),
        "is ",
    ),
    (
        re.compile(
            r"\b(is|are)\s+(now\s+)?(?:due|scheduled|planned|set|booked|expected|slated"
            r"|fixed)\s+(?:for|on|at|by)\s+"
            r"(?=(?:(?:next|the)\s+)?(?:\d|[A-Z]))"
        ),
        r"\1 \2on ",
    ),
    (
        re.compile(
            r"\b(?:have\s+|has\s+)?(?:finally\s+|just\s+)?(?:learned|learnt)(?:\s+how)?\s+to\s+"
        ),
        "can now ",
    ),
    (re.compile(r"\b(?:am|is|are)\s+(?:now\s+|finally\s+)?able\s+to\s+"), "can now "),
    # "Our band name is X" is "our band is X".
    (
        re.compile(
            r"\b([Mm]y|[Oo]ur|[Tt]he)\s+(?!first|last|middle|user|family|maiden|pet|domain|file"
            r"|host|full|legal|nick|stage|code|brand|screen|pen)"
            r"([\w-]+)\s+name(?=\s+(?:is|was|has|to|from)\b)"
        ),
        r"\1 \2",
    ),
)

#: In each of these.
_PERHAPS_PLAINER = re.compile(
    r" (?:called|named|name|down|up|worth|due|scheduled|planned|set|booked|expected|slated"
    r"|fixed|will|learn\w+|able) "
)


@dataclass(frozen=True, slots=True)
class Framing:
    """A plain statement, and what is said about it.

    Attributes:
        text: the statement in the positive.
        change: something is said to be otherwise than before.
        denied: it is said not to be so.
        ended: it is said not to be so any more.
        again: it is said to be so again.
        wrong: stems of the value that is said to be wrong.
        wrong_head: of its main noun.
        when: at which times only; empty: always.
    """

    text: str
    change: bool = False
    denied: bool = False
    ended: bool = False
    again: bool = False
    wrong: frozenset[int] = frozenset()
    wrong_head: frozenset[int] = frozenset()
    when: frozenset[str] = frozenset()


def read_framing(text: str) -> Framing:
    """Take a statement out of what is said about it."""
    if _PERHAPS_PLAINER.search(text) is not None:
        for form, plain_form in _PLAINER:
            text = form.sub(plain_form, text)
    text = in_plain_words(text)
    framing = _polarity(_corrected(Framing(text, change=CHANGE.search(text) is not None)))
    when = _when(CHANGE.sub(" ", framing.text))
    plain = CHANGE.sub(" ", _LEADING_WHEN.sub("", framing.text))
    again = _AGAIN.search(text) is not None
    plain = " ".join(_AGAIN.sub(" ", plain).split()).strip(" ,.!")
    if text[:1].isupper():  # what stood in front of the first word has gone
        plain = f"{plain[:1].upper()}{plain[1:]}"
    return replace(framing, text=plain, again=again, when=when, change=framing.change or again)


def _corrected(framing: Framing) -> Framing:
    """Without the value that is said to be wrong."""
    found = _WRONG.search(framing.text)
    if found is None or len(found["wrong"].split()) > _MAX_WRONG:
        return framing
    wrong = terms(found["wrong"])
    last = found["wrong"].split()[-1]
    # A number is told of something, and nothing is told of a number.
    head = frozenset[int]() if any(map(str.isdigit, last)) else terms(last)
    text = framing.text[: found.start()]
    return replace(framing, text=text, change=True, wrong=wrong, wrong_head=head)


def _polarity(framing: Framing) -> Framing:
    """In the positive, with what that takes away."""
    for pattern, positive in _ENDED:
        if (found := pattern.match(framing.text)) is not None:
            return _of_condition(replace(framing, text=positive(found), ended=True))
    for pattern, positive in _NOT_SO:
        if (found := pattern.match(framing.text)) is not None:
            return _of_condition(replace(framing, text=positive(found), denied=True))
    if (found := _STARTED.match(framing.text)) is not None:
        return replace(framing, text=f"{found['subject']} am {found['rest']}", change=True)
    return _opposite(framing)


def _of_condition(framing: Framing) -> Framing:
    """Of two opposite conditions, not to be in the one is to be in the other."""
    found = opposite(framing.text)
    if found is None:
        return framing
    return replace(framing, text=found.text, denied=not found.denied, ended=False, change=True)


def _opposite(framing: Framing) -> Framing:
    """So "without sugar" denies "with sugar", and "down" denies "up"."""
    if _WITHOUT.search(framing.text):
        return replace(framing, text=_WITHOUT.sub(" with ", framing.text), denied=True)
    found = opposite(framing.text)
    return framing if found is None else replace(framing, text=found.text, denied=found.denied)


def _positive(found: re.Match[str]) -> str:
    verb = found["verb"] or ""
    helps = verb in {"do", "does", "have", "has", "will", ""}
    rest = _third_person(found["rest"]) if verb == "does" else found["rest"]
    return " ".join([found["subject"], *([] if helps else [verb]), rest])


def _have(subject: str) -> str:
    return "have" if subject in {"I", "we", "We"} else "has"


def _third_person(text: str) -> str:
    """So "sleep in our room" becomes "sleeps in our room"."""
    verb, space, rest = text.partition(" ")
    if not verb.isalpha() or not verb.islower() or verb.endswith("s"):
        return text
    if verb in _IRREGULAR:
        return f"{_IRREGULAR[verb]}{space}{rest}"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies{space}{rest}"
    return f"{verb}{'es' if verb.endswith(('ch', 'sh', 'x', 'z', 'o')) else 's'}{space}{rest}"


def _when(text: str) -> frozenset[str]:
    text = _AT_CLOCK.sub("", text)
    found = {name.casefold() for match in _WHEN.finditer(text) for name in match.groups() if name}
    if _CLOCK.search(text):
        found |= {match["day"].casefold() for match in _DAYS.finditer(text)}
    return frozenset(each.removesuffix("s") for each in found)


def _stopped(found: re.Match[str]) -> str:
    return _GOING_TO.sub("attend ", f"{found['subject']} am {found['rest']}")


_Positive = Callable[[re.Match[str]], str]
_ENDED: tuple[tuple[re.Pattern[str], _Positive], ...] = (
    (_UNTRUE, lambda found: found["rest"]),
    (_ANY_MORE, _positive),
    (_NO_LONGER, _positive),
    (_STOPPED, _stopped),
    (_USED_TO, lambda found: f"{found['subject']} {found['rest']}"),
    (_OFF, lambda found: f"{found['subject']} take {found['rest']}"),
    (_BACK, lambda found: f"{found['subject']} on {found['rest']}"),
)
_NOT_SO: tuple[tuple[re.Pattern[str], _Positive], ...] = (
    (_HATES, lambda found: f"{found['subject']} like {found['rest']}"),
    (_DENIED, _positive),
    (
        _NO_MORE,
        lambda found: f"{found['subject']} {_have(found['subject'])} {found['rest']}",
    ),
    (_HAS_NO, lambda found: f"{found['subject']} {found['verb']} {found['rest']}"),
    (_NEVER, lambda found: f"{found['subject']} {found['rest']}"),
)
