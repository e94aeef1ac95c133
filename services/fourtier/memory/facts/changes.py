"""Reading that a thing became another: "my rent went up to 950", "we moved from X to Y"."""

import re
from collections.abc import Iterator
from dataclasses import replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.attributes import of_noun
from fourtier.memory.facts.predicates import read_predicates
from fourtier.memory.facts.things import Thing, read_subject, thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Value

_CHANGED = (
    "changed|change|moved|move|increased|decreased|raised|lowered|cut|extended|reduced|postponed"
    "|postpone|delayed|delay|brought|bring|put"
)
_CHANGED_TO = (
    r"(?:up\s+|down\s+|back\s+|forward\s+|out\s+|off\s+)?(?:from\s+(?P<before>.+?)\s+)?"
    r"(?:to|until|till)\s+(?P<value>(?:(?!\sto\s).)+)$"
)
_BECAME = re.compile(
    r"^(?P<thing>.{2,160}?)\s+(?:(?:has|have|was|were|is|are|got|been|just|being)\s+)*"
    rf"(?:{_CHANGED}|goes|(?:gone|went)\s+(?:up|down)|grown|grew|risen|rose|fallen|fell|dropped"
    rf"|rescheduled|pushed|renamed|updated|set|slipped|upgraded|switched|rises|falls|drops"
    rf"|increases|decreases|climbs|changes|moves"
    rf"|switches|climbed|shrunk|shrank|sank|sunk)\s+{_CHANGED_TO}",
)
_MADE_IT = re.compile(
    r"^(?:[Ii]|[Ww]e|[Tt]hey|[Mm]y\s\w+|[Tt]he\s(?:\w+\s)?\w+|[A-Z]\w+)\s+(?:(?:have|has|had|to"
    r"|just|recently)\s+)*"
    rf"(?:{_CHANGED}|rescheduled|pushed|renamed|updated|set|bumped|upped|adjusted|switched"
    rf"|upgraded)\s+"
    rf"(?:up\s+|down\s+|back\s+|forward\s+)?(?P<thing>(?:my|our|the)\s.{{2,120}}?)\s+{_CHANGED_TO}",
)
#: "We have a new landlord called Moss", "I have a new number: 555 0199".
_HAVE_NEW = re.compile(
    r"^(?:I|[Ww]e)\s+(?:have\s+got|have|got)\s+an?\s+new\s+(?P<noun>[a-z][a-z -]*?)"
    r"(?:\s*[:,]|\s+and\s+it\s+is|,?\s+it\s+is|\s+called|\s+named)"
    r"\s+(?P<value>.+)$"
)
#: "We migrated from Jenkins to GitHub Actions": what stands behind "from" is over.
_FROM_TO = re.compile(
    r"^(?P<subject>.{1,40}?)\s+(?:(?:have|has|had|just|finally|recently|now)\s+)*(?:switched"
    r"|migrated|moved"
    r"|changed|went|transferred|upgraded)\s+(?:(?:over|my|our|the|[a-z]+)\s+){0,3}?from\s+"
    r"(?P<before>.{1,40}?)\s+to\s+(?P<value>.{1,60})$"
)
_REPLACED = re.compile(
    r"^(?P<subject>.{1,40}?)\s+(?:(?:have|has|had|just|finally|recently|now)\s+)*(?:replaced"
    r"|swapped|exchanged)"
    r"\s+(?P<before>.{1,40}?)\s+(?:with|by|for)\s+(?P<value>.{1,60})$"
)

#: "We upgraded to Postgres 16", "I moved up to an iPhone 16".
_UPGRADED = re.compile(
    r"^(?P<subject>.{1,40}?)\s+(?:(?:have|has|had|just|finally|recently|now)\s+)*(?:upgraded"
    r"|updated|downgraded|switched"
    r"|moved|migrated|bumped)\s+(?:\w+\s+)?(?:from\s+.{1,30}?\s+)?to\s+(?:an?\s+"
    r"|the\s+)?(?P<name>(?!Flat|Apartment|Room|Building|Unit|Block|Route|Floor|Level|House"
    r"|Suite|Gate|Platform)[A-Za-z]*[A-Z]\w*(?:\s[A-Z]\w*)*)"
    r"\s+(?P<number>v?\d[\d.]*)$"
)


def read_changes(text: str, *, cased: bool) -> Iterator[Triple]:
    """Something became another, or somebody made it another."""
    if (became := _BECAME.match(text) or _MADE_IT.match(text)) is not None:
        triple = of_noun(became["thing"], became["value"], cased=cased)
        if triple is not None:
            yield replace(triple, change=True, begun=True, wrong=terms(became["before"] or ""))
    if (new := _HAVE_NEW.match(text)) is not None:
        triple = of_noun(f"my new {new['noun']}", new["value"], cased=cased)
        if triple is not None:
            yield replace(triple, change=True)
    if (moved := _FROM_TO.match(text) or _REPLACED.match(text)) is not None:
        subject = read_subject(moved["subject"])
        for ending in read_predicates(f"{moved['subject']} quit {moved['before']}"):
            if subject is not None:
                yield replace(ending, change=True)


def read_upgrades(text: str) -> Iterator[Triple]:
    """What somebody uses is said to have another number: a version, a model."""
    found = _UPGRADED.match(text)
    subject = read_subject(found["subject"]) if found else None
    if found is None or subject is None:
        return
    head = terms(found["name"].split()[0])
    key = f"{thing_key(subject.owner, head)}|does"
    yield Triple(
        Thing(key, head, frozenset(), unique=False, whose=subject.whose),
        Value("any"),
        change=True,
        says=terms(found["name"]),
        does=True,
        numbers=frozenset([found["number"]]),
    )
