"""States of people that exclude each other: whom one lives with, what one eats, what one works."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import Thing, read_subject, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Value
from fourtier.memory.facts.words import ADVERB

_BETWEEN = rf"(?:(?:have|has|had|am|is|are|was|were|been|got|get|getting|be)\s+|{ADVERB})*"
_SUBJECT = rf"^(?P<subject>.{{1,50}}?)\s+{_BETWEEN}"
_TO = r"(?:\s+(?:to|from|with)\s+(?P<value>[A-Z][\w'-]+))?"
_PARTNER = r"(?:boyfriend|girlfriend|husband|wife|partner|fianc[eé]e?)"
_JOB = (
    r"(?:my|his|her|the|our|their)\s+(?:old\s+|new\s+|(?P<which>[\w-]+)\s+)?"
    r"(?:job|position|post|role)"
)


@dataclass(frozen=True, slots=True)
class _State:
    name: str
    pattern: re.Pattern[str]
    ends: bool
    change: bool
    also: tuple[str, ...] = ()
    verb: str = ""


def _state(
    name: str,
    pattern: str,
    *,
    ends: bool = False,
    change: bool = False,
    also: tuple[str, ...] = (),
    verb: str = "",
) -> _State:
    return _State(name, re.compile(pattern), ends, change, also, verb)


_STATES = (
    _state(
        "spouse",
        _SUBJECT + r"(?:divorced|separated|widowed|split(?:\s+up)?|broke(?:n)?\s+up|parted\s+ways"
        r"|going\s+separate\s+ways)" + _TO + r"(?:\s+.*)?$",
        ends=True,
        change=True,
    ),
    _state("spouse", _SUBJECT + r"(?P<value>single)(?:\s+again)?$"),
    _state(
        "spouse",
        _SUBJECT + r"(?:in\s+a\s+relationship|together|dating|seeing|going\s+out)\s+(?:with\s+)?"
        r"(?P<value>[A-Z][\w'-]+)(?:\s+.*)?$",
    ),
    _state(
        "spouse",
        r"^(?P<subject>.{1,40}? and I)\s+(?:are|have\s+been)\s+(?:(?P<value>dating)|together"
        r"|a\s+couple)(?:\s+(?:now|since|for)\b.*)?$",
    ),
    _state("spouse", _SUBJECT + r"(?:married|engaged)" + _TO + r"(?:\s+(?:on|in|last|this)\b.*)?$"),
    _state(
        "spouse", rf"^(?P<subject>[Mm]y)\s+{_PARTNER}\s+is(?:\s+called)?\s+(?P<value>[A-Z]\S+)$"
    ),
    _state("diet", _SUBJECT + r"(?:an?\s+)?(?P<value>vegetarian|vegan|pescatarian)(?:\s+.*)?$"),
    _state(
        "diet",
        r"^(?P<subject>.{1,50}?)\s+(?:eats?|eating)\s+"
        r"(?P<value>meat|fish|chicken|beef|pork|eggs|dairy|seafood)\b.*$",
        verb="eat",
    ),
    _state(
        "absence",
        _SUBJECT + r"(?P<value>on\s+(?:holiday|vacation|(?:\w+\s+)?leave|(?:a\s+)?sabbatical"
        r"|a\s+(?:business|work)\s+trip"
        r"|a\s+(?:training\s+)?course|strike|honeymoon)|in\s+(?:the\s+)?hospital|in\s+rehab"
        r"|off\s+sick|off\s+work|out\s+sick"
        r"|away|abroad|travelling|out\s+of\s+(?:the\s+)?(?:office|town|country))(?:\s+(?:until"
        r"|till|for|since|with|on|this|next|in|at|because|all)\b.*)?$",
    ),
    _state(
        "absence",
        _SUBJECT
        + r"(?:back(?:\s+home)?|home)(?:\s+again)?(?:\s+(?:from|at\s+work|in\s+the\s+office"
        r"|in\s+town|since|on|at\s+her\s+desk|at\s+his\s+desk)\b.*)?$",
        ends=True,
        change=True,
    ),
    _state(
        "absence",
        _SUBJECT
        + r"(?:returned|come\s+back|came\s+back|came\s+home)\s+(?:home\s+)?(?:from|to\s+work)\b.*$",
        ends=True,
        change=True,
    ),
    _state(
        "baby",
        _SUBJECT + r"(?P<value>(?:\w+\s+(?:weeks|months)\s+)?pregnant|expecting(?:\s+(?:an?|our|her"
        r"|twins|their)\b.*)?)(?:\s+with\b.*)?$",
    ),
    _state(
        "baby",
        _SUBJECT
        + r"(?:gave\s+birth|had\s+(?:(?:her|his|our|the|my|their)\s+(?:\w+\s+)?(?:baby|child"
        r"|son|daughter|twins)|a\s+(?:healthy\s+|little\s+)?"
        r"(?:baby|boy|girl|son|daughter)|twins))\b.*$",
        ends=True,
        change=True,
    ),
    _state(
        "nickname",
        r"^(?:[Pp]lease\s+)?(?:you\s+can\s+)?(?:\w+\s+){0,2}[Cc]alls?\s+(?P<subject>me)\s+(?P<value>[A-Z]\w+)$",
    ),
    _state(
        "employer",
        rf"^(?P<subject>.{{1,50}}?)\s+{_BETWEEN}(?:quit|left|lost|resigned\s+from"
        rf"|gave\s+up)\s+{_JOB}"
        r"(?:\s+(?:at|with|in)\s+(?P<value>(?:the\s+)?\S+))?(?:\s+.*)?$",
        ends=True,
        change=True,
        also=("job",),
    ),
    _state(
        "employer",
        _SUBJECT + r"(?:laid\s+off|made\s+redundant|fired|sacked|resigned|let\s+go|dismissed)"
        r"(?:\s+(?:by|from|at)\s+(?P<value>(?:the\s+)?\S+))?(?:\s+.*)?$",
        ends=True,
        change=True,
        also=("job",),
    ),
    _state("employer", _SUBJECT + r"retired(?:\s+.*)?$", ends=True, change=True, also=("job",)),
    _state(
        "employer",
        _SUBJECT + r"(?P<value>unemployed|out\s+of\s+work|between\s+jobs|job-hunting"
        r"|looking\s+for\s+a\s+job)$",
    ),
)
#: Each state has one of these.
_PERHAPS = re.compile(
    r"divorced|separated|widowed|split|br[eo]ke|parted|separate|single|relationship|together"
    r"|dating|seeing|going\s+out|married"
    rf"|engaged|couple|{_PARTNER}|vegetarian|vegan|pescatarian|\beat|calls?\s+me|job|position"
    rf"|post|role|laid\s+off|made|fired"
    r"|sacked|resigned|let\s+go|dismissed|retired|unemployed|work|looking|holiday|vacation"
    r"|leave|sabbatical|trip|course"
    r"|strike|honeymoon|hospital|rehab|sick|away|abroad|travelling|out\s+of|back|home|returned"
    r"|birth|had\s|pregnant|expecting",
    re.IGNORECASE,
)
_JUST_BEGUN = re.compile(r"\b(?:got|became|went|turned)\b")


def read_states(text: str, *, change: bool) -> Iterator[Triple]:
    """The states that a text tells; what one eats is one only where it says that it changed."""
    if _PERHAPS.search(text) is None:
        return
    for state in _STATES:
        match = state.pattern.match(text)
        subject = read_subject(_person(match["subject"])) if match else None
        if match is None or subject is None:
            continue
        said = terms(match.groupdict().get("value") or match.groupdict().get("which") or "")
        begun = change or state.change or _JUST_BEGUN.search(text) is not None
        if state.verb and not begun:
            continue
        keys = [thing_key(subject.owner, terms(name)) for name in (state.name, *state.also)]
        thing = Thing(keys[0], terms(state.name), frozenset(), subject.unique, whose=subject.whose)
        yield Triple(
            thing,
            Value("any"),
            begun,
            says=said | terms(state.verb),
            begun=begun,
            ended=state.ends,
            closes=frozenset(key.partition("|")[2] for key in keys if state.ends),
        )


def _person(subject: str) -> str:
    return "I" if subject.casefold() in {"my", "me"} else subject
