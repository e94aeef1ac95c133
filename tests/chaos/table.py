"""The table that `make chaos` prints."""

from collections.abc import Iterator, Sequence

from tests.chaos.faults import Endured
from tests.chaos.verdict import Verdict

_LINE = "{:<34} {:>5} {:>5} {:>8} {:>10} {:>6} {:>9} {:>9} {:>8}"


_HEADS = (
    *("fault", "runs", "lost", "doubled", "forgotten", "back**"),
    *("unknown*", "recovery", "took"),
)


def table(endured: Sequence[Endured], verdict: Verdict) -> Iterator[str]:
    """A row for each fault. A recovery is the longest of the fault's."""
    yield _LINE.format(
        "fault", "runs", "lost", "doubled", "forgotten", "back**", "unknown*", "recovery", "took"
    )
    for each in endured:
        numbers = {run.number for run in each.runs}
        recovery = f"{max(each.recoveries):.1f} s" if each.recoveries else "-"
        yield _LINE.format(
            each.fault.name,
            len(numbers),
            len(numbers & verdict.lost.keys()),
            len(numbers & verdict.doubled.keys()),
            sum(run.forgotten for run in each.runs),
            len(numbers & verdict.back.keys()),
            len(numbers & verdict.unknown),
            recovery,
            f"{each.took:.1f} s",
        ) + (f"  {each.note}" if each.note else "")
    yield "* interrupted while a tool was at work that must never run twice; its prompt said so"
    yield "** from the dead: forgotten, and something of it is there after all was replayed"


def problems(endured: Sequence[Endured], verdict: Verdict) -> Iterator[str]:
    """One line for everything that is wrong."""
    for each in endured:
        yield from (f"{each.fault.name}: {problem}" for problem in each.problems)
    for number, words in sorted((verdict.lost | verdict.doubled | verdict.back).items()):
        yield f"run-{number:05d}: {words}"
