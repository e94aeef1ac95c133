"""What is there at the end, held against what should be."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.bus.contract import Bus
from tests.chaos.findings import Findings
from tests.chaos.flow import SERVICES
from tests.chaos.runs import Run
from tests.chaos.script import Script
from tests.chaos.tools import uses

#: What the agent says of a payment that it does not know to have been made.
_UNKNOWN = re.compile(r"Whether it took effect is unknown|was not run|did not finish|failed:")


async def dead_letters(bus: Bus) -> list[str]:
    """One line for each dead letter of any service."""
    return [
        f"{service}: {dead.topic}: {dead.error}"
        for service in SERVICES
        for dead in await list_dead_letters(bus, service)
    ]


@dataclass(frozen=True)
class Verdict:
    """What is wrong.

    Attributes:
        lost: run to what it has not left.
        doubled: run to what it has left twice.
        back: forgotten run to where something of it is, though it was gone, or never went.
        unknown: the runs whose prompt said that the outcome of their payment is unknown.
    """

    lost: dict[int, str]
    doubled: dict[int, str]
    back: dict[int, str]
    unknown: frozenset[int]


def judge(ledger: Path, script: Script, runs: Sequence[Run], found: Findings) -> Verdict:
    """Hold what was found against what each run should have left."""
    paid = Counter(uses(ledger, "pay"))
    informed = {name for name, words in script.shown.items() if _UNKNOWN.search(words)}
    taken = [run for run in runs if run.shed_for is None]
    lost = {run.number: ", ".join(_lost(run, found, paid, informed)) for run in taken}
    doubled = {run.number: ", ".join(_doubled(run, found, paid)) for run in runs}
    for number, words in found.not_promoted(runs):
        lost[number] = f"{lost.get(number, '')} {words}"
    for numbers in found.order.values():
        if numbers != sorted(numbers):
            doubled[numbers[0]] += f" recorded out of order: {numbers}"
    return Verdict(
        lost={number: words for number, words in lost.items() if words},
        doubled={number: words for number, words in doubled.items() if words},
        back={
            run.number: f"forgotten, and in {', '.join(left)}"
            for run in runs
            if run.forgotten and (left := list(found.left(run.number)))
        },
        unknown=frozenset(run.number for run in runs if run.name in informed),
    )


def _lost(run: Run, found: Findings, paid: Counter[str], informed: Container[str]) -> Iterator[str]:
    if not run.answer:
        yield f"no answer ({run.problem or 'not finished in time'})"
        return
    for what, counted in found.stored.items():
        if counted[run.number] == 0 and run.stays:
            yield f"no {what}"
    if paid[run.name] == 0 and run.name not in informed:
        yield "not paid, and the prompt did not say so"


def _doubled(run: Run, found: Findings, paid: Counter[str]) -> Iterator[str]:
    if run.shed_for is not None and (paid[run.name] or found.facts[run.number]):
        yield "shed, and done"
    for what, counted in found.stored.items():
        if counted[run.number] > 1:
            yield f"{what} {counted[run.number]} times"
    if paid[run.name] > 1:
        yield f"paid {paid[run.name]} times"
    recorded = found.answers.get(run.number)
    if run.answer and recorded and recorded != run.answer:
        yield f"answered {run.answer!r}, recorded {recorded!r}"
