"""Supersession: of dialogues as people hold them, what is closed, what stays, what is stored.

    .venv/bin/python -m bench.supersession [--half first] [--faults] [--theme money]
        [--detect [--probability 0.9]]

Runs the labelled dialogues of tests/data/supersession by the product's own code on the embedded
engines, without a language model, and prints for each set and theme

- precision: of the facts that were superseded, how many should be, and by that statement;
- recall: of the facts that should be superseded, how many were;
- valid: how many of the facts that should be valid at the end are;
- noise: how many of the guesses, jokes, quotations and exclamations were stored;
- first: for how many questions the right fact is the first that is found.

The first and the second half, and the dialogues by classes, were used to work on the rules and to
train the detection of contradictions. The third set, by another author, chose its threshold; the
fourth, and in part the fifth, which pairs it compares. The others are only reported.
"""

import argparse
import asyncio

from bench.fact_store import embedder, empty_store, in_process

from fourtier.memory.facts.detector import MIN_PROBABILITY, Detector
from fourtier.memory.facts.store import FactStore
from tests.support.supersession import Counts, by_theme, dialogues, run

SETS = ("first", "second", "classes", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
#: Never used to choose anything.
REPORTED_ONLY = frozenset(["sixth", "seventh", "eighth"])


def line(name: str, counts: Counts) -> str:
    """A row of the table."""
    closed = counts.right + counts.wrong
    return (
        f"{name:15} {counts.dialogues:4}  "
        f"precision {counts.right:3} of {closed:3} {counts.precision:7.1%}  "
        f"recall {counts.right:3} of {counts.right + counts.missed:3} {counts.recall:7.1%}  "
        f"valid {counts.valid - counts.not_valid:3} of {counts.valid:3}  "
        f"noise {counts.stored_noise:2} of {counts.noise:2}  "
        f"first {counts.answered:2} of {counts.asked:2}"
    )


async def measure(store: FactStore, labelled_set: str, theme: str, *, faults: bool) -> None:
    """Run and print one set."""
    whole = Counts()
    print(f"{labelled_set}{' (reported only)' if labelled_set in REPORTED_ONLY else ''}")
    for name, labelled in by_theme(dialogues(labelled_set)).items():
        if theme and name != theme:
            continue
        counts = await run(store, labelled, f"{labelled_set}-{name}", ask=True)
        print(f"  {line(name, counts)}")
        if faults:
            print("".join(f"      {fault}\n" for fault in counts.faults), end="")
        whole.add(counts)
    print(f"  {line('all', whole)}")


async def main() -> None:
    """Read the command line, open a store, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=SETS, help="one set alone")
    parser.add_argument("--theme", default="")
    parser.add_argument("--faults", action="store_true", help="print each thing that went wrong")
    parser.add_argument("--detect", action="store_true", help="with the detection by model")
    parser.add_argument("--probability", type=float, default=MIN_PROBABILITY)
    arguments = parser.parse_args()
    detector = None
    if arguments.detect:
        detector = Detector(in_process(), min_probability=arguments.probability)
    sets = [arguments.half] if arguments.half else SETS
    async with empty_store(embedder(), detector) as store:
        for name in sets:
            await measure(store, name, arguments.theme, faults=arguments.faults)


if __name__ == "__main__":
    asyncio.run(main())
