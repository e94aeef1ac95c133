"""What somebody is, has or has reached, one at a time: an office, a plan, a page, the spare key."""

import re
from collections.abc import Iterator

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import (
    SPEAKER,
    Subject,
    Thing,
    read_subject,
    read_thing,
    thing_key,
)
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import NUMBER_WORDS, Value
from fourtier.memory.facts.words import ADVERB, OCCASION, PROFESSION

_BE = rf"{ADVERB}(?:am|is|are)\s+{ADVERB}"
_BEGAN = r"(?:(?:have|has|had|was|were|am|is|are|been|got|just|recently|finally)\s+)*"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|\d{1,3}(?:st|nd|rd|th)|last|final)"
)
#: What is gone through, one after the other.
_STAGE = (
    r"(?:year|grade|week|month|level|page|chapter|stage|round|term|semester|trimester|lesson"
    r"|episode"
    r"|phase|step|division|league|milestone|sprint|unit|act|draft|season|gear)"
)
_REACHED = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+(?:{ADVERB}(?:am|is|are)\s+(?:already\s+|up\s+|now\s+)?(?:in"
    rf"|at|on|to)"
    r"|(?P<begun>(?:(?:have|has|just)\s+)*(?:reached|moved\s+(?:up\s+|on\s+)?to|made\s+it\s+to"
    r"|got\s+to|entered"
    r"|started)))\s+(?:(?:my|the|his|her|our|their)\s+)?"
    rf"(?:(?P<ordinal>{_ORDINAL})\s+(?P<noun>{_STAGE})"
    rf"|(?P<stage>{_STAGE})\s+(?P<code>[A-Z]?\d+[a-z]?|[A-Z]|{NUMBER_WORDS}))"
    r"(?:\s+(?P<of>(?:of|in|at|on)\s+.{1,50}))?$"
)
#: "We are third in the league", "I'm number 8 on the team".
_RANKED = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{_BE}(?P<rank>{_ORDINAL}|number\s+\d+)\s+(?P<of>(?:in|on"
    rf"|of)\s+(?:the|my|our)\s+\S.{{0,40}})$"
)
_NOUNS = "plan|tier|package|tariff|shift|rota|waitlist|ward|track|team|department|squad"
_PLAN = (
    r"(?:the|a|an|our)\s+(?P<value>(?:[\w-]+\s+){1,2}?)"
    r"(?<!football )(?<!soccer )(?<!hockey )(?<!basketball )(?<!volleyball )(?<!swim )(?<!quiz )"
    rf"(?P<noun>{_NOUNS})"
)
_ON_PLAN = re.compile(rf"^(?P<subject>.{{1,50}}?)\s+{_BE}(?:on|in)\s+{_PLAN}$")
_TO_PLAN = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{_BEGAN}(?:upgraded|downgraded|moved|switched|changed"
    rf"|transferred|put"
    rf"|promoted|assigned)\s+(?:up\s+|down\s+|over\s+|back\s+)?(?:to|on|onto)\s+{_PLAN}$"
)
#: What one alone of a circle has at a time.
_HELD = (
    r"(?:keys?|keycard|car|van|bike|camera|laptop|tablet|projector|ladder|drill|tent|trailer"
    r"|trophy|cup"
    r"|rings|tickets|passports|documents|contract|folder|badge|pager|remote|charger|banner|whistle"
    r"|map|boat|suitcase|register|dog|cat|rabbit)"
)
_HOLDS = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{ADVERB}(?:have|has|keeps?|holds?)\s+{ADVERB}the\s+"
    rf"(?P<noun>(?:[\w-]+\s+){{0,2}}{_HELD})$"
)
_OFFICE = (
    rf"(?:{PROFESSION}|secretary|treasurer|chair|chairman|chairwoman|chairperson|president"
    r"|vice[\s-]president|captain|deputy|leader|spokesperson|spokesman|spokeswoman|goalkeeper"
    r"|curator"
    r"|principal|mayor|moderator|referee)"
)
_SERVES = re.compile(
    rf"^(?P<subject>.{{1,50}}?)\s+{_BE}(?:the\s+|an?\s+)?"
    rf"(?P<value>(?:(?:deputy|assistant|vice|head|co)[\s-])?{_OFFICE})\s+(?:of|for)\s+(?:the"
    rf"|our|my)\s+"
    r"(?P<of>\S.{0,40})$"
)

#: "Version 2.4 is in production": of those that have numbers, one is where they are used.
_NUMBERED = re.compile(
    r"^(?:[Tt]he\s+)?(?P<noun>[Vv]ersion|[Rr]elease|[Bb]uild|[Rr]evision"
    r"|[Ee]dition)\s+(?P<code>v?\d[\w.]*)\s+(?:is|runs)\s+"
    r"(?P<where>(?:in|on)\s+\S.{0,40})$"
)

#: Each way to say it has one of these words.
_PERHAPS = frozenset(
    word
    for phrases in (
        _STAGE,
        _ORDINAL,
        _OFFICE,
        _HELD,
        _NOUNS,
        "number|version|release|build|revision|edition",
    )
    for written in re.findall(r"[a-z]+\??", phrases)
    for word in ({written[:-2], written[:-1]} if written.endswith("?") else {written})
)


def read_positions(text: str) -> Iterator[Triple]:
    """The ways to read a text, the likeliest first."""
    said_words = text.casefold().split()
    if _PERHAPS.isdisjoint(said_words) and not any(word[:1].isdigit() for word in said_words):
        return
    said = OCCASION.sub("", text)
    if (reached := _REACHED.match(said)) is not None:
        yield from _of_stage(reached)
    if (ranked := _RANKED.match(said)) is not None and (who := read_subject(ranked["subject"])):
        yield Triple(
            _one(who, "rank", terms(ranked["of"])), Value("any"), says=terms(ranked["rank"])
        )
    plan = _ON_PLAN.match(said) or _TO_PLAN.match(said)
    if plan is not None and (subject := read_subject(plan["subject"])) is not None:
        begun = plan.re is _TO_PLAN
        thing = _one(subject, plan["noun"], frozenset())
        yield Triple(thing, Value("words"), begun, says=terms(plan["value"]), begun=begun)
    if (serves := _SERVES.match(said)) is not None and (who := read_subject(serves["subject"])):
        yield Triple(
            _one(who, "function", terms(serves["of"])), Value("any"), says=terms(serves["value"])
        )
    if (holds := _HOLDS.match(said)) is not None and read_subject(holds["subject"]) is not None:
        noun = holds["noun"].split()
        head, words = terms(noun[-1]), terms(" ".join(noun[:-1]))
        thing = Thing(f"{thing_key(SPEAKER, head)}|holder", head, words, unique=False)
        yield Triple(thing, Value("any"), says=terms(holds["subject"]) or terms("myself"))
    if (numbered := _NUMBERED.match(said)) is not None:
        head, where = terms(numbered["noun"]), terms(numbered["where"])
        thing = Thing(f"{thing_key(SPEAKER, head)}|in use", head, where, unique=False)
        yield Triple(thing, Value("any"), says=terms(numbered["code"]))


def _of_stage(match: re.Match[str]) -> Iterator[Triple]:
    """A later page, year or level takes the place of the one before without more words."""
    noun = match["noun"] or match["stage"]
    words = terms(match["of"] or "")
    value = Value("number", terms(noun))
    says = terms(f"number {match['ordinal'] or match['code']}")
    begun = match["begun"] is not None
    subject, whole = read_subject(match["subject"]), read_thing(match["subject"])
    if subject is not None:
        yield Triple(_one(subject, noun, words), value, begun, says=says, begun=begun)
    elif whole is not None:
        yield Triple(whole.side(noun), value, begun, says=says, begun=begun)


def _one(subject: Subject, name: str, words: frozenset[int]) -> Thing:
    head = terms(name)
    key = f"{thing_key(subject.owner, head)}|one"
    return Thing(key, head, words, subject.unique, whose=subject.whose)
