"""How much personal data is found, and how much is taken for some that is none.

    python -m bench.personal_data            # the table
    python -m bench.personal_data --wrong    # each text that is classified wrongly

The corpus is `tests/data/personal_data/`: made-up sentences with made-up or reserved numbers.
`first.tsv` was there while the classifier was written; `second.tsv` was written afterwards and is
only reported.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fourtier.runtime.privacy.finding import find
from fourtier.runtime.privacy.kinds import KINDS

CORPUS = Path(__file__).parents[1] / "tests" / "data" / "personal_data"
HALVES = ("first", "second")
#: The kind of a text that has no personal data.
NONE = "none"


class Labelled(NamedTuple):
    """A text with the personal data in it, if there is some."""

    kind: str
    value: str
    text: str

    def found(self) -> str:
        """The kind that the classifier gives: of the value, or of whatever it finds in vain."""
        spans = find(self.text)
        if self.kind == NONE:
            return spans[0].kind if spans else NONE
        start = self.text.index(self.value)
        end = start + len(self.value)
        covering = [span for span in spans if span.start <= start and end <= span.end]
        return covering[0].kind if covering else NONE


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one half.

    Attributes:
        texts: how many there are of each kind.
        caught: how many of them were found whole, as whatever kind: then they are not stored.
        right: as the kind that they are.
        false_alarms: texts without personal data, by the kind that was found in them.
    """

    texts: Counter[str]
    caught: Counter[str]
    right: Counter[str]
    false_alarms: Counter[str]

    def catch_rate(self, kind: str) -> float:
        """The share of a kind that was found."""
        return self.caught[kind] / self.texts[kind]

    @property
    def false_alarm_rate(self) -> float:
        """The share of the texts without personal data in which some was found."""
        return self.false_alarms.total() / self.texts[NONE]


def corpus(half: str) -> Iterator[Labelled]:
    """The labelled texts of a half."""
    with (CORPUS / f"{half}.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        for row in rows:
            yield Labelled(*row)


def measured(half: str) -> Figures:
    """Classify a half."""
    figures = Figures(Counter(), Counter(), Counter(), Counter())
    for labelled in corpus(half):
        found = labelled.found()
        figures.texts[labelled.kind] += 1
        if labelled.kind == NONE:
            figures.false_alarms.update([found] if found != NONE else [])
        else:
            figures.caught[labelled.kind] += found != NONE
            figures.right[labelled.kind] += found == labelled.kind
    return figures


def _row(half: str, kind: str, figures: Figures) -> str:
    texts, caught = figures.texts[kind], figures.caught[kind]
    return (
        f"| {half} | {kind} | {texts} | {caught} ({caught / texts:.1%}) | {figures.right[kind]} "
        f"| {figures.false_alarms[kind]} |"
    )


def main() -> None:
    """Print the table, or what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wrong", action="store_true")
    if parser.parse_args().wrong:
        for half in HALVES:
            for labelled in corpus(half):
                if (found := labelled.found()) != labelled.kind:
                    print(f"{half}: {labelled.kind}, found {found}: {labelled.text}")
        return
    print("| half | kind | texts | caught | as that kind | false alarms |")
    print("|---|---|---|---|---|---|")
    for half in HALVES:
        figures = measured(half)
        for kind in KINDS:
            print(_row(half, kind, figures))
        with_data = figures.texts.total() - figures.texts[NONE]
        caught = figures.caught.total()
        print(
            f"| {half} | **all** | {with_data} and {figures.texts[NONE]} without | {caught} "
            f"({caught / with_data:.1%}) | {figures.right.total()} "
            f"| {figures.false_alarms.total()} ({figures.false_alarm_rate:.1%}) |"
        )


if __name__ == "__main__":
    main()
