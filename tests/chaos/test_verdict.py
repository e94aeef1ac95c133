"""What a trial counts as lost, and as back from the dead."""

from collections import Counter
from pathlib import Path

from tests.chaos.findings import Findings
from tests.chaos.runs import Run
from tests.chaos.script import Script
from tests.chaos.verdict import Verdict, judge


def judged(tmp_path: Path, run: Run, found: Findings) -> Verdict:
    ledger = tmp_path / "ledger.txt"
    ledger.write_text(f"pay {run.name} 1\n")
    return judge(ledger, Script(), [run], found)


def test_a_forgotten_run_of_which_nothing_is_left_is_neither_lost_nor_back(tmp_path: Path) -> None:
    run = Run(1, "forget", answer="Done.", forgotten=True)
    verdict = judged(tmp_path, run, Findings())
    assert not verdict.lost | verdict.doubled | verdict.back


def test_whatever_is_left_of_a_forgotten_run_is_back(tmp_path: Path) -> None:
    run = Run(1, "forget", answer="Done.", forgotten=True)
    for found in (
        Findings(facts=Counter([1])),
        Findings(records=Counter([1])),
        Findings(episodes=Counter([1])),
        Findings(reported=Counter([1])),
    ):
        assert judged(tmp_path, run, found).back.keys() == {1}


def test_a_run_that_was_not_forgotten_is_lost_without_its_fact(tmp_path: Path) -> None:
    found = Findings(records=Counter([1]), episodes=Counter([1]))
    assert judged(tmp_path, Run(1, "forget", answer="Done."), found).lost == {1: "no fact"}


def test_of_one_that_is_unsure_nothing_is_asked_but_its_payment(tmp_path: Path) -> None:
    run = Run(1, "forget", answer="Done.", unsure=True)
    verdict = judged(tmp_path, run, Findings(facts=Counter([1])))
    assert not verdict.lost | verdict.doubled | verdict.back
