"""FactConsolidation (MIT, MemoryAgentBench): of facts that contradict each other the newest holds.

The numbered facts of the single-hop contexts are stored in their order, each context for a user of
its own. Evidence of a question is the newest fact that answers it. Besides it is counted

- contradicted: for how many questions an older fact that says otherwise stands above the newest, or
  without it, among the first ten; with superseded facts asked for too;
- superseded: how many of the facts that a newer one contradicts were recognised, and how many that
  none contradicts were taken for superseded.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.recall.datasets import DATA, Dataset, Question

from fourtier.client import Client
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import MAX_ITEMS, Scope

_FILE = DATA / "factconsolidation/factconsolidation_6k.json"
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_SEARCHED = 10
#: The data has no list of its contradictions; its sentences have their value at the end, behind a
#: verb phrase out of a few dozen.
_UP_TO_VALUE = re.compile(
    r"(?P<stem>(?:The (?!headquarters).+? is|.+?'s child is|.+? (?:is married to|is famous for"
    r"|is a citizen of|is employed by|(?:was|is) [a-z]+ (?:by|(?:in|with) the [a-z]+ of)"
    r"|(?:died|worked|works) in the [a-z]+ of|(?:speaks|plays) the [a-z]+ of)) )"
)


@dataclass(frozen=True)
class _Asked:
    """A question with the fact that answers it and the older ones that say otherwise."""

    text: str
    newest: str
    contradicted: frozenset[str]


@dataclass(frozen=True)
class _Context:
    """The facts of one size of context, in the order in which they are stated."""

    user: str
    facts: Sequence[str]
    asked: Sequence[_Asked]


def fact_consolidation() -> Dataset:
    """The facts and questions of all single-hop contexts."""
    known = list(_contexts())
    questions = [
        Question(each.user, asked.text, each.user, frozenset([asked.newest]), "")
        for each in known
        for asked in each.asked
    ]
    facts = [
        StoreFactRequest(user=each.user, content=fact, timestamp=_BEGAN + timedelta(minutes=number))
        for each in known
        for number, fact in enumerate(each.facts)
    ]
    return Dataset("factconsolidation", [], questions, facts=facts, more=_contradictions)


def _contexts() -> Iterator[_Context]:
    if not _FILE.is_file():
        sys.exit(f"skipped: {_FILE} is not there")
    samples: list[Mapping[str, Any]] = json.loads(_FILE.read_text("utf-8"))
    for sample in samples:
        name = str(sample["metadata"]["source"])
        if "_sh_" in name:
            facts = re.findall(r"^\d+\. (.+)$", sample["context"], re.MULTILINE)
            pairs = zip(sample["questions"], sample["answers"], strict=True)
            asked = [_question(text, gold[0], facts) for text, gold in pairs]
            yield _Context(name, facts, asked)


def _question(text: str, answer: str, facts: Sequence[str]) -> _Asked:
    """The newest fact ends with the answer and names the most words of the question before it."""
    asked = set(re.findall(r"\w+", text.casefold()))

    def shared(fact: str) -> float:
        words = set(re.findall(r"\w+", _stem(fact, answer).casefold()))
        return len(words & asked) / len(words | asked)

    newest = max((fact for fact in facts if _says(fact, answer)), key=shared)
    stem = _stem(newest, answer)
    older = facts[: facts.index(newest)]
    return _Asked(text, newest, frozenset(fact for fact in older if fact.startswith(stem)))


def _says(fact: str, answer: str) -> bool:
    return fact.rstrip(".").endswith(f" {answer.rstrip('.')}")


def _stem(fact: str, answer: str) -> str:
    return fact.rstrip(".").removesuffix(answer.rstrip("."))


async def _contradictions(client: Client, questions: Sequence[Question]) -> list[str]:
    """What is said of contradictions, of each context."""
    wanted = {(question.user, question.text) for question in questions}
    lines: list[str] = []
    for each in _contexts():
        asked = [one for one in each.asked if (each.user, one.text) in wanted]
        for superseded in (False, True):
            wrong = [await _is_hidden(client, each.user, one, superseded) for one in asked]
            lines.append(
                f"{each.user}, {'with superseded' if superseded else 'valid'} facts: contradicted "
                f"fact above the newest {100 * sum(wrong) / max(1, len(wrong)):.0f} %"
            )
        lines.append(f"{each.user}: {await _recognised(client, each)}")
    return lines


async def _is_hidden(client: Client, user: str, asked: _Asked, superseded: bool) -> bool:
    found = await client.facts.search(
        Scope(user, "default"), asked.text, top_k=_SEARCHED, include_superseded=superseded
    )
    ranked = [fact.content for fact in found]
    place = ranked.index(asked.newest) if asked.newest in ranked else _SEARCHED
    return bool(asked.contradicted & set(ranked[:place]))


async def _recognised(client: Client, context: _Context) -> str:
    """How many contradictions were seen, and how many that are none."""
    valid: set[str] = set()
    scope = Scope(context.user, "default")
    while page := (await client.facts.list(scope, limit=MAX_ITEMS, offset=len(valid))).facts:
        valid |= {fact.content for fact in page}
    outdated = _outdated(context.facts)
    others = [fact for fact in context.facts if fact not in outdated]
    seen = [fact for fact in outdated if fact not in valid]
    wrongly = [fact for fact in others if fact not in valid]
    return (
        f"superseded {len(seen)} of {len(outdated)} contradicted facts, {len(wrongly)} of "
        f"{len(others)} others"
    )


def _outdated(facts: Sequence[str]) -> set[str]:
    """Facts that say of somebody or something what a newer one says otherwise."""
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for fact in facts:
        match = _UP_TO_VALUE.match(fact)
        by_stem[match["stem"] if match else fact].append(fact)
    return {fact for group in by_stem.values() for fact in group[:-1]}
