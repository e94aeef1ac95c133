"""How much of the evidence that questions need is found again, in how many tokens.

    .venv/bin/python -m bench.recall [locomo longmemeval hotpotqa factconsolidation taubench]
        [--tier archive research facts context] [--half report|work|all] [--kinds]
        [--plot recall.png]

Says the turns and stores the documents of the data sets as `fourtier import` does, and tells of
runs as an agent does, in a flow on the embedded engines, waits until memory has all of them, and
asks the questions by `archive.search`, `researcher.research`, `facts.retrieve` or
`episodes.retrieve`, without a language model. `--tier` is for the first three data sets;
FactConsolidation has facts alone, and tau-bench episodes. `work` is the half on which
choices were made, `report` the other one.

R@k is the share of a question's evidence (turns, documents, the fact that holds, the runs of the
same task) among the first k, any@k and all@k are the questions of which some or all evidence is,
and `tokens` is what each of the first five costs in a context. The second table fills a budget of
tokens with what came, from the best down: how much of the evidence is in it, and for how many pairs
of a question and a turn that has words of the answer these words are. Data that is not there is
skipped.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.recall.measuring import BUDGETS, DEPTHS, Row, by_kind, recall_of_sessions
from bench.recall.searching import measure
from bench.recall.sets import SETS, tiers_of

_TIERS = ("archive", "research", "facts", "context")


def _print(rows: Mapping[str, Row]) -> None:
    depths = "  ".join(f"{name}@{depth:<2}" for name in ("  R", "any", "all") for depth in DEPTHS)
    print(f"  {'':26}{'asked':>6}  {depths}  tokens  p50 ms")
    for kind, row in rows.items():
        shares = (row.recall, row.some, row.every)
        widths = zip(shares, (5, 6, 6), strict=True)
        cells = "  ".join(f"{of[depth]:{width}.1f}" for of, width in widths for depth in DEPTHS)
        print(f"  {kind:26}{row.number:6}  {cells}  {row.tokens:6.0f}  {row.milliseconds:6.0f}")
    print(f"  {'within so many tokens':42}  {'  '.join(f'{each:>5}' for each in BUDGETS)}")
    for kind, row in rows.items():
        words = [("words of answer", row.words)] if any(row.words.values()) else []
        for name, of in (("evidence", row.evidence), *words):
            cells = "  ".join(f"{of[budget]:5.1f}" for budget in BUDGETS)
            print(f"  {kind:26} {name:15}  {cells}")


def _plot(lines: Mapping[str, Row], path: Path) -> None:
    from matplotlib import pyplot as plt  # noqa: PLC0415 - only who plots needs it

    for name, row in lines.items():
        plt.plot(list(row.evidence), list(row.evidence.values()), marker="o", label=name)
    plt.xscale("log")
    plt.xticks(BUDGETS, [str(each) for each in BUDGETS])
    plt.xlabel("tokens of the context")
    plt.ylabel("evidence in it, %")
    plt.legend()
    plt.grid(alpha=0.3)
    plt.savefig(path, dpi=120)
    print(f"drawn: {path}")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", choices=[*SETS, []], default=["locomo", "longmemeval"])
    parser.add_argument(
        "--tier",
        nargs="+",
        choices=["archive", "research", "facts", "context"],
        default=["archive"],
    )
    parser.add_argument("--half", choices=["report", "work", "all"], default="report")
    parser.add_argument("--kinds", action="store_true", help="a line for each kind of question")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    drawn: dict[str, Row] = {}
    for name, tier in _wanted(arguments.data, arguments.tier):
        print(f"{name}, {tier}, {arguments.half}")
        dataset = SETS[name]()
        asked = asyncio.run(measure(dataset, tier, arguments.half))
        rows = by_kind(asked, dataset.texts)
        _print(rows if arguments.kinds else {"all": rows["all"]})
        if dataset.turns:
            print(f"  sessions: {recall_of_sessions(asked, dataset.sessions)}")
        drawn[f"{name}, {tier}"] = rows["all"]
    if arguments.plot and drawn:
        _plot(drawn, arguments.plot)


def _wanted(data: Sequence[str], tiers: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, tier) for name in data for tier in tiers_of(name, tiers)]


if __name__ == "__main__":
    main()
