"""Labelled dialogues, and what memory makes of them by the product's own code, without a model.

Each dialogue goes through extraction (method `statements`) and into a fact store on the embedded
engines, message by message, in a scope of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, field_validator

from fourtier.memory.extraction.experience import Experience, of_run, of_turn
from fourtier.memory.extraction.statements_method import ExtractionByRule
from fourtier.memory.facts.graph import ScopedFact
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.store import FactStore
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import Scope

DIALOGUES = Path(__file__).parent.parent / "data" / "supersession"
_COMPARED_AT_ONCE = 1_000
_MAX_STATEMENTS = 50
#: A question is answered when the right fact is the first one.
_TOP = 5


class _Labelled(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Labelled):
    """A message; with a speaker it is said among people, without one by the user to the agent."""

    at: datetime
    says: str
    speaker: str = ""

    @field_validator("at", mode="before")
    @classmethod
    def _in_utc(cls, at: str) -> datetime:
        return datetime.fromisoformat(at).replace(tzinfo=UTC)


class Closed(_Labelled):
    """A part of a fact's words, and of the words of the message that supersedes it."""

    old: str
    by: str


class Question(_Labelled):
    """A question, and a part of the fact that is to be found first."""

    question: str
    top: str


class Dialogue(_Labelled):
    """What is said, and what is right to know afterwards.

    Attributes:
        closed: what is to be superseded; nothing else may be.
        valid: parts of facts that are to be there and valid.
        never: parts of what must not be stored, superseded or not.
    """

    theme: str
    turns: tuple[Turn, ...]
    closed: tuple[Closed, ...] = ()
    valid: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    ask: Question | None = None


@dataclass
class Counts:
    """Figures of some dialogues.

    Attributes:
        right: pairs that were superseded and are labelled.
        wrong: pairs that were superseded and are not labelled.
        missed: pairs that are labelled and were not superseded.
        faults: each thing that went wrong, in words.
    """

    dialogues: int = 0
    right: int = 0
    wrong: int = 0
    missed: int = 0
    valid: int = 0
    not_valid: int = 0
    stored_noise: int = 0
    noise: int = 0
    asked: int = 0
    answered: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Count another's figures too."""
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)

    @property
    def precision(self) -> float:
        """Of what was superseded, how much is labelled."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of what is labelled, how much was superseded."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def dialogues(name: str) -> list[Dialogue]:
    """The dialogues of a set: "first", "second", "classes", "third"."""
    text = (DIALOGUES / f"{name}.yaml").read_text("utf-8")
    loaded = yaml.load(text, yaml.CBaseLoader)  # noqa: S506 - it makes nothing but texts
    return [Dialogue.model_validate(each) for each in loaded]


def by_theme(labelled: Iterable[Dialogue]) -> dict[str, list[Dialogue]]:
    """The dialogues of each theme."""
    ordered = sorted(labelled, key=lambda each: each.theme)
    return {theme: list(group) for theme, group in groupby(ordered, lambda each: each.theme)}


async def run(
    store: FactStore, labelled: Sequence[Dialogue], name: str, *, ask: bool = False
) -> Counts:
    """Store dialogues, each in a scope of its own, and compare.

    The first messages of all are stored together, then the second ones, and so on.
    """
    scopes = {Scope(f"{name}-{number}", "default"): each for number, each in enumerate(labelled)}
    for number in range(max(len(each.turns) for each in labelled)):
        await store.store(
            [
                fact
                for scope, each in scopes.items()
                if number < len(each.turns)
                for fact in await facts_of(scope, each.turns[number], number)
            ]
        )
        await compare_all(store)
    counts = Counts()
    for scope, each in scopes.items():
        facts, _ = await store.page(scope, 1_000, 0, superseded=True)
        counts.add(_compared(each, facts))
        if ask and each.ask is not None:
            counts.add(await _asked(store, scope, each.ask))
    return counts


async def compare_all(store: FactStore) -> None:
    """Compare all facts that wait for it, as the service does beside the writes."""
    while waiting := await store.uncompared(_COMPARED_AT_ONCE):
        await store.compare(waiting)


async def facts_of(scope: Scope, turn: Turn, number: int) -> list[ScopedFact]:
    """What extraction makes of a message, as facts."""
    method = ExtractionByRule("extraction", _MAX_STATEMENTS, _MAX_STATEMENTS)
    learned = await method.learn(_experience(scope, turn, number))
    return [
        ScopedFact(scope, FactRecord.from_request(request, turn.at)) for request in learned.facts
    ]


async def _asked(store: FactStore, scope: Scope, question: Question) -> Counts:
    found = await store.search(scope, question.question, None, _TOP, superseded=False)
    first = found[0][0].content if found else "nothing"
    counts = Counts(asked=1, answered=int(question.top in first))
    if not counts.answered:
        counts.faults.append(f"asked {question.question!r}: {first!r} is first")
    return counts


def _experience(scope: Scope, turn: Turn, number: int) -> Experience:
    """The message as extraction is told of it: a run's question, or a turn."""
    if turn.speaker:
        return of_turn(
            DialogueTurn(
                user=scope.user,
                conversation_id="c",
                speaker=turn.speaker,
                content=turn.says,
                timestamp=turn.at,
                turn_id=f"t{number}",
            )
        )
    return of_run(
        InvocationEnded(
            user=scope.user,
            conversation_id="c",
            run_id=f"r{number}",
            question=turn.says,
            answer="Noted.",
            started_at=turn.at,
            ended_at=turn.at,
        ),
        2,
        tool_facts=True,
    )


def _compared(dialogue: Dialogue, facts: Sequence[FactRecord]) -> Counts:
    """What was superseded, and what is valid and stored, against the labels."""
    counts = _pairs_compared(dialogue, facts)
    counts.dialogues = 1
    for part in dialogue.valid:
        there = any(part in fact.content for fact in facts if fact.valid)
        counts.valid += 1
        counts.not_valid += not there
        if not there:
            counts.faults.append(f"not valid: {part!r}; {_stored(facts)}")
    for part in dialogue.never:
        there = any(part in fact.content for fact in facts)
        counts.noise += 1
        counts.stored_noise += there
        if there:
            counts.faults.append(f"stored: {part!r}; {_stored(facts)}")
    return counts


def _pairs_compared(dialogue: Dialogue, facts: Sequence[FactRecord]) -> Counts:
    counts = Counts()
    by_id = {fact.id: fact for fact in facts}
    found: set[Closed] = set()
    for old, new in ((fact, by_id[fact.superseded_by]) for fact in facts if not fact.valid):
        label = next((each for each in dialogue.closed if is_pair(each, old, new)), None)
        if label is None:
            counts.wrong += 1
            counts.faults.append(f"wrong: {old.content!r} closed by {new.content!r}")
        else:
            found.add(label)
    counts.right = len(found)
    for each in dialogue.closed:
        if each not in found:
            counts.missed += 1
            counts.faults.append(f"missed: {each.old!r} by {each.by!r}; {_stored(facts)}")
    return counts


def is_pair(label: Closed, old: FactRecord, new: FactRecord) -> bool:
    said = f"{new.content}\n{new.quote}".casefold()
    return label.old in f"{old.content}\n{old.quote}" and label.by.casefold() in said


def _stored(facts: Sequence[FactRecord]) -> str:
    return " / ".join(("" if fact.valid else "x ") + fact.content for fact in facts)
