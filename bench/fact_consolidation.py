"""FactConsolidation (MemoryAgentBench): of facts that contradict each other, the newest should win.

    .venv/bin/python -m bench.fact_consolidation

Stores the numbered facts of the single-hop contexts in their order, by the real services on the
embedded engines, and asks their questions. For each size of context it prints

- R@1, R@5: for how many questions the newest fact is the first, or among the first five;
- contradicted: for how many an older fact that says otherwise stands above it, or without it;
- the same with superseded facts asked for;
- superseded: how many of the facts that a newer one contradicts were recognised, and how many that
  none contradicts were taken for superseded.

Reads ../shared/data/factconsolidation/factconsolidation_6k.json (MIT; no part of this project).
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourtier.schema.facts import (
    LIST_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    ListFactsRequest,
    RetrieveFactsRequest,
    StoreFactRequest,
)
from tests.support.flow import RunningFlow, running_flow

DATA = (
    Path(__file__).parent.parent.parent / "shared/data/factconsolidation/factconsolidation_6k.json"
)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SERVICES: dict[str, dict[str, object]] = {"embeddings": {}, "facts": {}}
SEARCHED = 10
#: The data has no list of its contradictions; its sentences have their value at the end, behind a
#: verb phrase out of a few dozen.
_UP_TO_VALUE = re.compile(
    r"(?P<stem>(?:The (?!headquarters).+? is|.+?'s child is|.+? (?:is married to|is famous for"
    r"|is a citizen of|is employed by|(?:was|is) [a-z]+ (?:by|(?:in|with) the [a-z]+ of)"
    r"|(?:died|worked|works) in the [a-z]+ of|(?:speaks|plays) the [a-z]+ of)) )"
)


@dataclass(frozen=True)
class Question:
    """A question with the fact that answers it and the older ones that say otherwise."""

    text: str
    newest: str
    contradicted: frozenset[str]


def contexts() -> list[tuple[str, list[str], list[Question]]]:
    """Name, facts and questions of each single-hop context; ends the program without the data."""
    if not DATA.is_file():
        print(f"skipped: {DATA} is not there")
        sys.exit(0)
    samples: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
    found: list[tuple[str, list[str], list[Question]]] = []
    for sample in samples:
        name = str(sample["metadata"]["source"])
        if "_sh_" in name:
            facts = re.findall(r"^\d+\. (.+)$", sample["context"], re.MULTILINE)
            pairs = zip(sample["questions"], sample["answers"], strict=True)
            found.append((name, facts, [_question(text, gold[0], facts) for text, gold in pairs]))
    return found


def _question(text: str, answer: str, facts: Sequence[str]) -> Question:
    """The newest fact ends with the answer and names the most words of the question before it."""
    asked = set(re.findall(r"\w+", text.casefold()))

    def shared(fact: str) -> float:
        words = set(re.findall(r"\w+", _stem(fact, answer).casefold()))
        return len(words & asked) / len(words | asked)

    newest = max((fact for fact in facts if _says(fact, answer)), key=shared)
    stem = _stem(newest, answer)
    older = facts[: facts.index(newest)]
    return Question(text, newest, frozenset(fact for fact in older if fact.startswith(stem)))


def _says(fact: str, answer: str) -> bool:
    return fact.rstrip(".").endswith(f" {answer.rstrip('.')}")


def _stem(fact: str, answer: str) -> str:
    return fact.rstrip(".").removesuffix(answer.rstrip("."))


async def store(flow: RunningFlow, user: str, facts: Sequence[str]) -> None:
    """Store the facts, each said a minute after the one before."""
    gate = asyncio.Semaphore(128)

    async def one(number: int, fact: str) -> None:
        async with gate:
            said = BEGAN + timedelta(minutes=number)
            await flow.caller.call(
                STORE_FACT, StoreFactRequest(user=user, content=fact, timestamp=said)
            )

    await asyncio.gather(*(one(number, fact) for number, fact in enumerate(facts)))


async def ask(
    flow: RunningFlow, user: str, questions: Sequence[Question], *, superseded: bool
) -> str:
    """Ask all questions; one line of shares."""
    first = five = wrong = 0
    for question in questions:
        found = await flow.caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                user=user, query=question.text, top_k=SEARCHED, include_superseded=superseded
            ),
        )
        ranked = [fact.content for fact in found.facts]
        index = ranked.index(question.newest) if question.newest in ranked else SEARCHED
        first += index == 0
        five += index < 5
        wrong += bool(question.contradicted & set(ranked[:index]))
    return (
        f"R@1 {first / len(questions):6.1%}   R@5 {five / len(questions):6.1%}   "
        f"contradicted fact above {wrong / len(questions):6.1%}"
    )


async def recognised(flow: RunningFlow, user: str, facts: Sequence[str]) -> str:
    """How many contradictions were seen, and how many that are none."""
    valid: set[str] = set()
    while page := (
        await flow.caller.call(
            LIST_FACTS, ListFactsRequest(user=user, limit=1_000, offset=len(valid))
        )
    ).facts:
        valid |= {fact.content for fact in page}
    outdated = _outdated(facts)
    seen = [fact for fact in outdated if fact not in valid]
    wrongly = [fact for fact in facts if fact not in valid and fact not in outdated]
    return (
        f"superseded {len(seen)} of {len(outdated)} contradicted facts, {len(wrongly)} of "
        f"{len(facts) - len(outdated)} others"
    )


def _outdated(facts: Sequence[str]) -> set[str]:
    """Facts that say of somebody or something what a newer one says otherwise."""
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        match = _UP_TO_VALUE.match(fact)
        by_stem[match["stem"] if match else fact].append(fact)
    return {fact for group in by_stem.values() for fact in group[:-1]}


async def main() -> None:
    """Measure each context in a scope of its own."""
    with tempfile.TemporaryDirectory(prefix="fourtier-bench-") as data:
        async with running_flow(Path(data), SERVICES) as flow:
            for name, facts, questions in contexts():
                await store(flow, name, facts)
                print(f"{name}: {len(facts)} facts, {len(questions)} questions")
                print(f"  valid facts      {await ask(flow, name, questions, superseded=False)}")
                print(f"  with superseded  {await ask(flow, name, questions, superseded=True)}")
                print(f"  {await recognised(flow, name, facts)}")


if __name__ == "__main__":
    asyncio.run(main())
