"""A short form of `bench.recall`: questions of two steps, over paragraphs written for them.

40 questions over 120 paragraphs, by an author who did not know how research works. A search has
all of the evidence of 85 % among the first five, research that of all; docs/recall.md says more.
"""

import json
from pathlib import Path

import pytest
from bench.recall.datasets import Dataset, Paragraph, Question
from bench.recall.measuring import by_kind
from bench.recall.searching import measure

_DATA = Path("tests/data/recall")


def _rows(name: str) -> list[dict[str, str]]:
    return [json.loads(row) for row in (_DATA / name).read_text("utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_evidence_of_both_steps_is_found() -> None:
    documents = [Paragraph("ida", row["name"], row["text"]) for row in _rows("documents.jsonl")]
    questions = [
        Question("ida", row["question"], row["kind"], frozenset(row["evidence"]), row["answer"])
        for row in _rows("two_steps.jsonl")
    ]
    written = Dataset("written", [], questions, documents)
    rows = by_kind(await measure(written, "research", "all"), written.texts)
    assert rows["bridge"].every[5] >= 90
    assert rows["comparison"].every[5] >= 90
