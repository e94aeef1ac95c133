"""Reading what one alone does, and what things do: "Anna leads the team", "the club meets"."""

import re
from collections.abc import Iterator
from dataclasses import replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.things import SPEAKER, Thing, read_subject, read_thing
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Value, is_name, read_value
from fourtier.memory.facts.words import ADVERB, OCCASION, PERSONS, PREPOSITIONS, RELATIVE

#: Who does what one alone does.
_LEADS = re.compile(
    rf"^(?P<who>.{{1,40}}?)\s+{ADVERB}(?:(?:has|have|is"
    rf"|are)\s+)?{ADVERB}(?:(?P<took>taken\s+over|took\s+over|takes\s+over"
    r"|taking\s+over|inherited)|(?:own|lead|run|manag|maintain|head|chair|organis|organiz|coordinat"
    r"|supervis|coach|teach|train|cover|handl)(?:e?s|n?ing)|responsible\s+for|in\s+charge\s+of"
    r"|looking\s+after|looks\s+after|the\s+owner\s+of)"
    r"\s+(?P<thing>(?:the|our|my)\s.{1,60}?)(?:\s+from\s+[A-Z]\w+)?$"
)
#: "Wei handed the pipeline over to Sunita", "the pipeline was taken over by Sunita".
_HANDED = re.compile(
    r"^(?:.{1,40}?)\s+(?:(?:has|have|just)\s+)*(?:handed|passed|turned|signed)\s+(?:over\s+"
    r"|on\s+)?(?P<thing>(?:the|our|my)\s.{1,60}?)(?:\s+(?:over"
    r"|on))?\s+to\s+(?P<who>[A-Z]\w+(?:\s[A-Z]\w+)?)$"
    r"|^(?P<thing_taken>(?:the|our|my|The|Our|My)\s.{1,60}?)\s+(?:has\s+been|was"
    r"|is)\s+(?:now\s+)?taken\s+over\s+by\s+(?P<who_took>[A-Z]\w+(?:\s[A-Z]\w+)?)$"
)
_PARTICLES = frozenset(["", "off", "out", "up", "down", "in", "on", "over", "back"])
#: "Times out after 30 seconds".
_PARTICLE = re.compile(r"^(?:out|up|down|off|over|away)\s+(?:after|within|in|at)\s+(?=\d)")
_THING_DOES = re.compile(
    rf"^(?P<thing>.{{1,60}}?)\s+{ADVERB}(?:(?P<be>is|are)\s+{ADVERB}(?P<done>\w+(?:ed|en)|built"
    rf"|due|set|run|held|kept|made)"
    rf"\s+(?:to|by|with|in|on|at|for|from|as)\b|(?P<does>[a-z]+s|hurt|have|live|run|use|come|go"
    rf"|meet|start|end|pay|close|open)\b)(?:\s+(?P<value>.+))?$"
)


def read_roles(text: str) -> Iterator[Triple]:
    """Who has a role: "Anna owns the billing service", "Ravi took over the billing service"."""
    if (handed := _HANDED.match(text)) is not None:
        thing = read_thing(handed["thing"] or handed["thing_taken"])
        who = terms(handed["who"] or handed["who_took"])
        if thing is not None:
            yield Triple(thing.side("lead"), Value("name"), change=True, says=who, begun=True)
    if (role := _LEADS.match(text)) is not None and is_name(role["who"]):
        thing = read_thing(role["thing"])
        if thing is not None:
            lead = replace(thing, key=f"{thing.key}|lead", unique=False)
            took = role["took"] is not None
            yield Triple(lead, Value("name"), took, says=terms(role["who"]), begun=took)


def read_doings(text: str, *, cased: bool) -> Iterator[Triple]:
    """What a thing does, or is done to it: "the club meets on Mondays", "is assigned to Kim"."""
    if RELATIVE & set(text.split()) or (doing := _THING_DOES.match(text)) is None:
        return
    before = doing["thing"].split()
    if doing["be"] is None and (len(before) == 1 or before[-1].casefold() in PREPOSITIONS):
        return
    thing = read_thing(doing["thing"])
    if thing is None and (named := read_subject(doing["thing"])) is not None:
        if named.owner.startswith(SPEAKER) or doing["be"] is None:
            return
        thing = Thing(f"{named.owner}|", frozenset(), frozenset(), unique=False, whose=named.whose)
    if thing is None or (thing.head & PERSONS and doing["be"] is None):
        return
    verb = terms(doing["done"] or doing["does"])
    if doing["does"] in {"is", "was", "has", "does"} or not verb:
        return
    said = _PARTICLE.sub("", OCCASION.sub("", doing["value"] or ""))
    if said in _PARTICLES and doing["value"]:
        said = doing["value"][len(said) :].strip()  # it is told when, and nothing else
    value = read_value(said, cased=cased) if said else None
    key = f"{thing.key}|{','.join(map(str, sorted(verb)))}"
    yield Triple(
        replace(thing, key=key, unique=False),
        value or Value("words"),
        says=terms(said) or verb,
    )
