"""Real talk that the gate against orders keeps out of memory though it orders nothing.

    .venv/bin/python -m bench.false_orders LOCOMO.json LONGMEMEVAL_DIRECTORY [--turns 2000] [--show]

Of each turn the statements that the rules find are counted, and those that the gate does not let
through: users' turns of LongMemEval as said to the agent, turns of LoCoMo as said between people,
and LoCoMo's `observation` sentences as a model writes facts down.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.longmemeval import said_by_user

from fourtier.memory.statements.extraction_rules import (
    Statement,
    statements_in_dialogue,
    statements_to_agent,
)
from fourtier.models.text.instructions import is_forged, is_order_to_assistant

_SEED = 7


def _locomo(file: Path) -> Iterator[str]:
    for dialogue in json.loads(file.read_text("utf-8")):
        for name, session in dialogue["conversation"].items():
            if name.startswith("session_") and isinstance(session, list):
                yield from (turn["text"] for turn in session)


def _observations(file: Path) -> Iterator[str]:
    for dialogue in json.loads(file.read_text("utf-8")):
        for session in dialogue["observation"].values():
            for found in session.values():
                yield from (each[0] for each in found)


def _longmemeval(directory: Path) -> Iterator[str]:
    for file in sorted(directory.glob("*.json")):
        for session in said_by_user(file):
            yield from session


def _stopped(statement: Statement, *, between_people: bool) -> bool:
    return is_order_to_assistant(
        statement.content, between_people=between_people
    ) or is_order_to_assistant(statement.quote, between_people=True)


def _row(name: str, turns: Sequence[str], *, between_people: bool, show: bool) -> str:
    find = statements_in_dialogue if between_people else statements_to_agent
    found, stopped = 0, list[str]()
    for turn in turns:
        statements = find(turn)
        found += len(statements)
        forged = is_forged(turn)
        stopped += [
            each.content
            for each in statements
            if forged or _stopped(each, between_people=between_people)
        ]
    if show:
        print(*(f"    {text!r}" for text in stopped), sep="\n")
    return f"| {name} | {len(turns)} | {found} | {len(stopped)} ({len(stopped) / found:.2%}) |"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("locomo", type=Path)
    arguments.add_argument("longmemeval", type=Path)
    arguments.add_argument("--turns", type=int, default=2_000, help="of both together")
    arguments.add_argument("--show", action="store_true", help="print what was stopped")
    given = arguments.parse_args()
    chance = random.Random(_SEED)
    talks = (
        ("LongMemEval, said to the agent", list(_longmemeval(given.longmemeval)), False),
        ("LoCoMo, said between people", list(_locomo(given.locomo)), True),
    )
    print("| talk | turns | statements | not stored |", "|---|---|---|---|", sep="\n")
    for name, turns, between in talks:
        some = chance.sample(turns, min(len(turns), given.turns // 2))
        print(_row(name, some, between_people=between, show=given.show))
    observed = list(_observations(given.locomo))
    stopped = [text for text in observed if is_order_to_assistant(text)]
    if given.show:
        print(*(f"    {text!r}" for text in stopped), sep="\n")
    print(
        f"| LoCoMo, observations | - | {len(observed)} "
        f"| {len(stopped)} ({len(stopped) / len(observed):.2%}) |"
    )


if __name__ == "__main__":
    main()
