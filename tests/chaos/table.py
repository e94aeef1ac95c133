"""The table that `make chaos` prints."""

from collections.abc import Iterator, Sequence

from tests.chaos.faults import Endured
from tests.chaos.verdict import Verdict

_LINE = "{:<28} {:>6} {:>6} {:>8} {:>9} {:>12} {:>8}"


def table(endured: Sequence[Endured], verdict: Verdict) -> Iterator[str]:
    """A row for each fault. A recovery is the longest of the fault's."""
    yield _LINE.format("fault", "runs", "lost", "doubled", "unknown*", "recovery", "took")
    for each in endured:
        numbers = {run.number for run in each.runs}
        recovery = f"{max(each.recoveries):.1f} s" if each.recoveries else "-"
        yield _LINE.format(
            each.fault.name,
            len(numbers),
            len(numbers & verdict.lost.keys()),
            len(numbers & verdict.doubled.keys()),
            len(numbers & verdict.unknown),
            recovery,
            f"{each.took:.1f} s",
        ) + (f"  {each.note}" if each.note else "")
    yield "* interrupted while a tool was at work that must never run twice; its prompt said so"


def problems(endured: Sequence[Endured], verdict: Verdict) -> Iterator[str]:
    """One line for everything that is wrong."""
    for each in endured:
        yield from (f"{each.fault.name}: {problem}" for problem in each.problems)
    for number, words in sorted((verdict.lost | verdict.doubled).items()):
        yield f"run-{number:05d}: {words}"
