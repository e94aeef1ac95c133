"""Asks for the evidence of questions, and counts what came."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.recall.datasets import Question

from fourtier.models.text.tokens import count_tokens

DEPTHS = (1, 3, 5, 10, 20)
#: Tokens of a context.
BUDGETS = (100, 250, 500, 1_000, 2_000)
_WORD = re.compile(r"[\w'-]+")
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "he",
        "her",
        "his",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "she",
        "that",
        "the",
        "their",
        "they",
        "to",
        "was",
        "were",
        "will",
        "with",
        "you",
        "i",
    ]
)


@dataclass(frozen=True)
class Found:
    """What a search found: ids of turns, documents, runs or facts, best first, with their texts."""

    turns: Sequence[str]
    texts: Sequence[str]
    milliseconds: float


@dataclass
class Row:
    """The figures of some questions, in percent.

    Attributes:
        recall: by depth, the share of a question's evidence that is found, on average.
        some: by depth, questions of which some evidence is found.
        every: by depth, questions of which all evidence is found.
        evidence: by budget of tokens, as `recall`.
        words: by budget, of the pairs of a question and a turn that has words of the answer, those
            whose words are in what fits.
    """

    number: int
    recall: dict[int, float] = field(default_factory=dict)
    some: dict[int, float] = field(default_factory=dict)
    every: dict[int, float] = field(default_factory=dict)
    evidence: dict[int, float] = field(default_factory=dict)
    words: dict[int, float] = field(default_factory=dict)
    tokens: float = 0.0
    milliseconds: float = 0.0


def measure(asked: Sequence[tuple[Question, Found]], said: Mapping[str, str]) -> Row:
    """The figures.

    Args:
        asked: questions with what was found.
        said: all turns by their ids.
    """
    row = Row(len(asked))
    for depth in DEPTHS:
        shares = [_share(question, found.turns[:depth]) for question, found in asked]
        row.recall[depth] = _mean(shares)
        row.some[depth] = _mean([float(share > 0) for share in shares])
        row.every[depth] = _mean([float(share == 1) for share in shares])
    for budget in BUDGETS:
        fitting = [(question, found, _fitting(found, budget)) for question, found in asked]
        row.evidence[budget] = _mean(
            [_share(question, found.turns[:number]) for question, found, number in fitting]
        )
        row.words[budget] = _mean(
            [
                float(words <= _words(" ".join(found.texts[:number])))
                for question, found, number in fitting
                for turn in sorted(question.evidence)
                if (words := _words(question.answer) & _words(said[turn]))
            ]
        )
    costs = [count_tokens(text) for _, found in asked for text in found.texts[:5]]
    row.tokens = statistics.fmean(costs) if costs else 0.0
    row.milliseconds = statistics.median(found.milliseconds for _, found in asked)
    return row


def by_kind(asked: Sequence[tuple[Question, Found]], said: Mapping[str, str]) -> dict[str, Row]:
    """The figures of each kind of question, and of all."""
    kinds = sorted({question.kind for question, _ in asked})
    rows = {kind: measure([each for each in asked if each[0].kind == kind], said) for kind in kinds}
    return rows | {"all": measure(asked, said)}


def of_sessions(
    asked: Sequence[tuple[Question, Found]], sessions: Mapping[str, str]
) -> list[tuple[Question, Found]]:
    """The same with the sessions of turns instead of the turns, each once, without texts.

    Args:
        asked: questions with the turns that were found.
        sessions: of each turn.
    """
    return [
        (
            replace(question, evidence=frozenset(sessions[turn] for turn in question.evidence)),
            Found(list(dict.fromkeys(sessions[turn] for turn in found.turns)), (), 0),
        )
        for question, found in asked
    ]


def recall_of_sessions(asked: Sequence[tuple[Question, Found]], sessions: Mapping[str, str]) -> str:
    """A line with R, any and all of the sessions that have the evidence."""
    row = measure(of_sessions(asked, sessions), dict.fromkeys(sessions.values(), ""))
    shares = {"R": row.recall, "any": row.some, "all": row.every}
    return "  ".join(f"{name}@5 {of[5]:.1f} @10 {of[10]:.1f}" for name, of in shares.items())


def _fitting(found: Found, budget: int) -> int:
    """How many of the texts fit, from the best down."""
    left = budget
    for number, text in enumerate(found.texts):
        left -= count_tokens(text)
        if left < 0:
            return number
    return len(found.texts)


def _share(question: Question, turns: Sequence[str]) -> float:
    return len(question.evidence & set(turns)) / len(question.evidence)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if word not in _STOP}


def _mean(values: Sequence[float]) -> float:
    return 100 * statistics.fmean(values) if values else 0.0
