"""Reading a plain English statement as "this thing has that value", without a model.

A statement of a thing that has one value at a time ("my budget for the trip is 10,000 dollars", "I
live in Oslo", "the capital of X is Y") can take the place of an older one. All others, such as
likes, events and plans, stay valid until one says that they have ended, or are not so: to hide a
true memory is worse than to show two.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from fourtier.memory.facts.attributes import read_being, read_counts, read_times
from fourtier.memory.facts.changes import read_changes, read_upgrades
from fourtier.memory.facts.clauses import clauses
from fourtier.memory.facts.doings import read_doings, read_roles
from fourtier.memory.facts.framing import Framing, read_framing
from fourtier.memory.facts.habits import read_habits
from fourtier.memory.facts.labels import labels_of
from fourtier.memory.facts.positions import read_positions
from fourtier.memory.facts.predicates import read_endings, read_predicates
from fourtier.memory.facts.relations import read_relations
from fourtier.memory.facts.states import read_states
from fourtier.memory.facts.steps import read_steps
from fourtier.memory.facts.things import thing_key
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.words import OPENING, PLAN, UNSURE

_ABBREVIATED = r"(?<!\b(?:Mr|Ms|Dr|St|Jr|Sr|Mt|Co|No))(?<!\b(?:Mrs|Inc|Ltd|Rev|Gen|Col))(?<!\bProf)"
_SENTENCES = re.compile(rf"(?:[a-z0-9)\"']{{2}}|\b[A-Za-z]{{3,}}){_ABBREVIATED}[.!?]+\s+[A-Z]")
_SPACE = re.compile(r"\s+")
#: Says of the other clause that what it tells is new.
_ALTERED = re.compile(
    r"\b(?:adjusted|changed|updated|extended|corrected|renewed|revised|replaced|rescheduled"
    r"|postponed|passed|rejected"
    r"|had\s+to\s+(?:move|change|push|postpone)\s+it|(?:moved|pushed|changed|switched)\s+(?:it"
    r"|things)|got\s+an?\s+(?:new|extension))\b"
)
_FULL_FORMS = (
    (re.compile(r"\b([Ii])'m\b"), r"\1 am"),
    (re.compile(r"\b([Ii]|[Ww]e)'ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'re\b"), r"\1 are"),
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b([Ii]t|[Hh]e|[Ss]he)'s\b"), r"\1 is"),
    (re.compile(r"^[A-Z]\w+ (?:says|said|tells me|told me)(?: that)? (?=(?:my|our|the)\b)"), ""),
    (re.compile(r"^(?:[Tt]he )?[Uu]ser's\b"), "My"),
    (re.compile(r"^(?:[Tt]he )?[Uu]ser\b"), "I"),
)
#: "Our house number is 41, sorry".
_AFTERTHOUGHT = re.compile(
    r"^(?P<said>[^,]+),\s*(?:sorry|my\s+mistake|my\s+bad|oops|correction)$", re.IGNORECASE
)
#: "I live in Freiburg, in a flat above a bakery": where exactly is told besides.
_WHERE_EXACTLY = re.compile(
    r"^(?P<said>.+?\b(?:live|lives|living|moved?|relocated|works?|working|stay|stays|study|studies"
    r"|studying)\b(?:\s(?:back|now|there))?\s(?:in|to|at|for|with)\s[A-Z][\w'-]*(?:\s[A-Z][\w'-]*)*)"
    r"(?:,\s(?:(?:right|just|directly|quite)\s)?(?:in|on|at|to|near|above|behind|by|under|below"
    r"|opposite|next\sto|close\sto|not\sfar\sfrom|around\sthe\scorner\sfrom)"
    r"|\s(?:in|on|near|above|behind|next\sto|close\sto))\s(?:an?|the|my|our|his|her|their)\s[^,;]+$"
)
#: Until when it is so leaves no doubt that it is.
_UNTIL = re.compile(r"\suntil\s+(?:the\s+)?[\w ]{1,20}$")
_LONGEST = 400


@lru_cache(maxsize=20_000)
def read_triple(content: str) -> Triple | None:
    """Read a statement; None when nothing can close it, and it closes nothing."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", content).replace("\u2019", "'")).strip(
        " .!,"
    )
    if len(text) > _LONGEST or _SENTENCES.search(text):
        return None
    cased = any(character.isupper() for character in text)
    for form, full in _FULL_FORMS:
        text = form.sub(full, text)
    text = _AFTERTHOUGHT.sub(r"sorry, \g<said>", text)
    text = _WHERE_EXACTLY.sub(r"\g<said>", text)
    opening = OPENING.match(text)
    if opening is not None:
        text = text[opening.end() :]
        text = f"{text[:1].upper()}{text[1:]}" if cased else text
    parts = clauses(text)
    read = [triple for part in parts if (triple := _read(part, cased=cased)) is not None]
    if opening is not None and opening["change"] is not None:
        corrected = opening["mistake"] is not None
        read = [replace(triple, change=True, corrected=corrected) for triple in read]
    if not read:
        return None
    found = read[max(range(len(read)), key=lambda index: _weight(read[index], index))]
    if len(parts) == 1:
        return found
    if any(_ALTERED.search(part) for part in parts[:-1]):
        found = replace(found, change=True)
    return replace(found, value=replace(found.value, whole=False))


def _weight(triple: Triple, index: int) -> tuple[float, int]:
    """Of several clauses the one counts that gives a thing another value, then one that ends.

    Of two that give values the later one is the outcome, of two that end the earlier one is meant.
    """
    if triple.negative:
        return 2, -index
    if triple.does:
        alters = triple.change or bool(triple.wrong)
        return (1 if alters else 0.5 * bool(triple.finishes)), -index
    return (3, index) if triple.bears_on_others else (2.5 * triple.thing.unique, index)


def _read(text: str, *, cased: bool) -> Triple | None:
    framing = read_framing(text)
    if UNSURE.search(_UNTIL.sub("", framing.text)):
        triple = _read_plan(framing.text)
    else:
        triple = next(_readings(framing, cased=cased), None)
    if triple is None:
        return None
    if triple.does and framing.wrong_head and triple.verb:
        # Of the slot of what it takes the place of: "to Korea instead of Japan".
        owner = triple.thing.key.partition("|")[0]
        key = f"{thing_key(owner, framing.wrong_head)}|does"
        triple = replace(triple, thing=replace(triple.thing, key=key))
    return replace(
        triple,
        change=triple.change or triple.thing.change or framing.change,
        denied=framing.denied,
        ended=triple.ended or framing.ended,
        holds=triple.holds and not framing.ended,
        again=framing.again,
        wrong=triple.wrong | framing.wrong,
        when=framing.when,
        labels=labels_of(text),
    )


def _read_plan(text: str) -> Triple | None:
    """What is planned is not so, and may be dropped: it takes no other statement's place."""
    plan = PLAN.match(text)
    if plan is None or UNSURE.search(plan["rest"]):
        return None
    planned = next(read_predicates(f"{plan['subject']} plan {plan['rest']}"), None)
    return planned if planned is not None and not planned.ended else None


def _readings(framing: Framing, *, cased: bool) -> Iterator[Triple]:
    """The ways to read a text, the most specific first."""
    text = framing.text
    yield from read_states(text, change=framing.change)
    yield from read_upgrades(text)
    yield from read_positions(text)
    yield from read_relations(text, cased=cased)
    yield from read_times(text, cased=cased)
    yield from read_habits(text)
    yield from read_steps(text)
    yield from read_counts(text)
    yield from read_changes(text, cased=cased)
    yield from read_roles(text)
    yield from read_endings(text)
    yield from read_doings(text, cased=cased)
    yield from read_being(text, cased=cased)
    yield from read_predicates(text)
