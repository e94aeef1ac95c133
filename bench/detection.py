"""What the detection of contradictions hides of real dialogue, in which little is ever corrected.

    .venv/bin/python -m bench.detection [--histories 4] [--from 6] [--turns 220]

What users said to an assistant in histories of LongMemEval is stored by the product's own code on
the embedded engines, once without detection and once with it, the assistant's words left out. It
prints how many statements were stored, how many pairs the model was asked about, and each statement
that was superseded with detection and not without, with what superseded it. Whether that is right
is for the reader to say.

Reads ../shared/data/longmemeval/cases (MIT; it is not part of this project).
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.fact_store import Embedder, embedder, empty_store, in_process
from bench.longmemeval import said_by_user

from fourtier.memory.facts.detector import MIN_PROBABILITY, Detector
from fourtier.memory.facts.records import FactRecord
from fourtier.models.contradictions.client import Contradict, Pair
from fourtier.schema.message import Scope
from tests.support.supersession import Turn, compare_all, facts_of

DATA = Path(__file__).parent.parent.parent / "shared/data/longmemeval/cases"
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
#: Turns that are stored together, as a busy service does.
_TOGETHER = 8


def turns(file: Path, limit: int) -> list[Turn]:
    """What the user said, a session a day."""
    said = [
        Turn(at=(_BEGAN + timedelta(days=day)).strftime("%Y-%m-%d %H:%M"), says=text)
        for day, session in enumerate(said_by_user(file))
        for text in session
    ]
    return said[:limit]


async def stored(
    said: Sequence[Turn], embedding: tuple[int, Embedder], detector: Detector | None
) -> list[FactRecord]:
    """All facts of a user who says this, superseded or not."""
    scope = Scope("ann", "default")
    async with empty_store(embedding, detector) as store:
        for start in range(0, len(said), _TOGETHER):
            some = enumerate(said[start : start + _TOGETHER], start)
            facts = [fact for number, turn in some for fact in await facts_of(scope, turn, number)]
            if facts:
                await store.store(facts)
                await compare_all(store)
        facts, _ = await store.page(scope, 100_000, 0, superseded=True)
    return facts


def counted(contradict: Contradict, asked: list[Pair]) -> Contradict:
    """The same, noting what it was asked."""

    async def count(pairs: Sequence[Pair]) -> list[float]:
        asked.extend(pairs)
        return await contradict(pairs)

    return count


async def main() -> None:
    """Store each history twice and print what differs."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.detection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--from", type=int, default=6, dest="first")
    parser.add_argument("--histories", type=int, default=4)
    parser.add_argument("--turns", type=int, default=220, help="of each history")
    parser.add_argument("--probability", type=float, default=MIN_PROBABILITY)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"skipped: {DATA} is not there")
    asked: list[Pair] = []
    detector = Detector(counted(in_process(), asked), min_probability=arguments.probability)
    embedding = embedder()
    total, hidden = 0, 0
    files = sorted(DATA.glob("*.json"))[arguments.first :][: arguments.histories]
    for file in files:
        said = turns(file, arguments.turns)
        by_rule = {fact.id for fact in await stored(said, embedding, None) if not fact.valid}
        facts = await stored(said, embedding, detector)
        by_id = {fact.id: fact for fact in facts}
        more = [fact for fact in facts if not fact.valid and fact.id not in by_rule]
        total, hidden = total + len(facts), hidden + len(more)
        for fact in more:
            print(f"  {fact.content}\n    by {by_id[fact.superseded_by].content}")
    print(f"{total} statements of {len(files)} histories, {len(asked)} pairs compared, ", end="")
    print(f"{hidden} superseded by detection alone")


if __name__ == "__main__":
    asyncio.run(main())
