"""A short form of `bench.recall`, on dialogue that was written for it: finding must not get worse.

The bounds are a little below what was reached; docs/recall.md has the figures.
"""

import json
from pathlib import Path

import pytest
from bench.recall.datasets import Dataset, Question
from bench.recall.measuring import by_kind
from bench.recall.searching import measure

from fourtier.schema.conversations import DialogueTurn

_DATA = Path("tests/data/recall")
#: R@10 of each kind of question, in percent.
_BOUNDS = {
    "single": 82,
    "temporal": 86,
    "assistant": 80,
    "leaning": 80,
    "synonyms": 50,
    "two-step": 65,
    "all": 80,
}


def _rows(name: str) -> list[str]:
    return (_DATA / name).read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_evidence_of_questions_is_found() -> None:
    turns = [DialogueTurn.model_validate_json(row) for row in _rows("dialogue.jsonl")]
    questions = [
        Question("ida", row["question"], row["kind"], frozenset(row["evidence"]), row["answer"])
        for row in map(json.loads, _rows("questions.jsonl"))
    ]
    asked = await measure(Dataset("written", turns, questions), "archive", "all")
    rows = by_kind(asked, {turn.turn_id: turn.content for turn in turns})

    reached = {kind: row.recall[10] for kind, row in rows.items()}
    assert {kind: reached[kind] for kind in _BOUNDS if reached[kind] < _BOUNDS[kind]} == {}
