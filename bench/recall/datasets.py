"""Public data sets as what is said and what is asked: nothing of them is part of this project."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.locomo import ADVERSARIAL, lines, samples

from fourtier.client import Client
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.facts import StoreFactRequest

DATA = Path(__file__).parents[3] / "shared/data"
_LONGMEMEVAL = DATA / "longmemeval/cases"
_HOTPOTQA = DATA / "hotpotqa/hotpotqa_200.json"
#: Categories of LoCoMo, as its authors number them.
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


@dataclass(frozen=True)
class Question:
    """A question of one user.

    Attributes:
        kind: as the data set names it.
        evidence: ids of the turns, or names of the documents, that answer it; none is empty.
        answer: as the data set has it.
    """

    user: str
    text: str
    kind: str
    evidence: frozenset[str]
    answer: str


@dataclass(frozen=True)
class Paragraph:
    """A document of one block."""

    user: str
    name: str
    text: str


@dataclass(frozen=True)
class Dataset:
    """What is said and read, and what is asked about it.

    Sessions are the conversations of the turns.

    Attributes:
        more: lines with what else is to be measured, of a flow that has all of it.
    """

    name: str
    turns: list[DialogueTurn]
    questions: list[Question]
    documents: Sequence[Paragraph] = ()
    runs: Sequence[InvocationEnded] = ()
    facts: Sequence[StoreFactRequest] = ()
    more: Callable[[Client, Sequence[Question]], Awaitable[Sequence[str]]] | None = None

    @property
    def sessions(self) -> dict[str, str]:
        """In which session each turn was said."""
        return {turn.turn_id: f"{turn.user}/{turn.conversation_id}" for turn in self.turns}

    @property
    def texts(self) -> dict[str, str]:
        """What the ids of evidence stand for."""
        said = {turn.turn_id: turn.content for turn in self.turns}
        asked = {run.run_id: run.question for run in self.runs}
        stated = {fact.content: fact.content for fact in self.facts}
        return said | asked | stated | {each.name: each.text for each in self.documents}

    def half(self, which: str) -> list[Question]:
        """Every other question: `work` is what choices are made on, `report` what is reported."""
        if which == "all":
            return self.questions
        return self.questions[0 if which == "work" else 1 :: 2]


def locomo() -> Dataset:
    """LoCoMo's development conversations (CC BY-NC 4.0), without the adversarial questions."""
    turns: list[DialogueTurn] = []
    questions: list[Question] = []
    for number, sample in enumerate(samples()):
        user = f"locomo-{number}"
        turns += [
            DialogueTurn.model_validate_json(json.dumps(line)) for line in lines(sample, user)
        ]
        said = {turn.turn_id for turn in turns}
        for asked in sample["qa"]:
            evidence = {f"{user}-{each}" for each in asked.get("evidence", ())} & said
            if evidence and asked["category"] != ADVERSARIAL:
                kind = _CATEGORIES[asked["category"]]
                answer = str(asked.get("answer", ""))
                questions.append(
                    Question(user, asked["question"], kind, frozenset(evidence), answer)
                )
    return Dataset("locomo", turns, questions)


def longmemeval() -> Dataset:
    """LongMemEval-S (MIT): histories of some fifty sessions with an assistant, a question each."""
    if not _LONGMEMEVAL.is_dir():
        sys.exit(f"skipped: {_LONGMEMEVAL} is not there")
    turns: list[DialogueTurn] = []
    questions: list[Question] = []
    for path in sorted(_LONGMEMEVAL.glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        user = case["case_id"]
        evidence: set[str] = set()
        for turn, has_answer in _messages(case, user):
            turns.append(turn)
            evidence |= {turn.turn_id} if has_answer else set()
        for asked in case["queries"]:
            if evidence:
                kind, answer = asked["metadata"]["question_type"], asked["golden_answer"]
                questions.append(
                    Question(user, asked["question"], kind, frozenset(evidence), str(answer))
                )
    return Dataset("longmemeval", turns, questions)


def _messages(case: dict[str, Any], user: str) -> Iterator[tuple[DialogueTurn, bool]]:
    """What is said in a case, and whether it answers the question."""
    for number, session in enumerate(case["sessions"]):
        for place, message in enumerate(session["messages"]):
            if not message["content"].strip():
                continue
            turn = DialogueTurn(
                user=user,
                conversation_id=f"{number}-{session['session_id']}",
                speaker=message["role"],
                content=message["content"],
                timestamp=datetime.fromisoformat(message["created_at"]).replace(tzinfo=UTC),
                turn_id=f"{user}-{number}-{place}",
            )
            yield turn, bool(message.get("has_answer"))


def hotpotqa() -> Dataset:
    """HotpotQA (CC BY-SA 4.0): 200 questions over the paragraphs of all of them, in one archive.

    Each paragraph is a document that has its title; all of a question's evidence is two of them.
    """
    if not _HOTPOTQA.is_file():
        sys.exit(f"skipped: {_HOTPOTQA} is not there")
    user = "hotpotqa"
    texts: dict[str, str] = {}
    questions: list[Question] = []
    for row in map(json.loads, _HOTPOTQA.read_text("utf-8").splitlines()):
        for title, sentences in row["context"]:
            texts.setdefault(title, "".join(sentences).strip() or title)
        evidence = frozenset(title for title, _ in row["supporting_facts"])
        questions.append(Question(user, row["question"], row["type"], evidence, row["answer"]))
    documents = [Paragraph(user, title, text) for title, text in texts.items()]
    return Dataset("hotpotqa", [], questions, documents)
