"""Tokens of a day: the cap, the restart, the next day."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.models.completion.budget import DayBudget
from fourtier.models.completion.errors import BudgetError
from fourtier.runtime.errors import StartupError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEXT = datetime(2026, 3, 2, 0, tzinfo=UTC)


async def test_the_cap_stops_and_says_when_it_begins_anew(tmp_path: Path) -> None:
    budget = DayBudget.open(tmp_path / "data" / "tokens.json", 100, now=lambda: NOON)
    await budget.spend(99)
    budget.check()
    await budget.spend(30)

    with pytest.raises(BudgetError) as error:
        budget.check()

    assert error.value.type == "budget"
    for part in ("100 tokens a day", "has used 129", "2026-03-02T00:00Z"):
        assert part in str(error.value)


async def test_the_count_survives_a_restart(tmp_path: Path) -> None:
    await DayBudget.open(tmp_path / "tokens.json", 100, now=lambda: NOON).spend(100)

    with pytest.raises(BudgetError):
        DayBudget.open(tmp_path / "tokens.json", 100, now=lambda: NOON).check()
    DayBudget.open(tmp_path / "tokens.json", 101, now=lambda: NOON).check()


async def test_the_next_day_begins_at_zero(tmp_path: Path) -> None:
    clock = [NOON]
    budget = DayBudget.open(tmp_path / "tokens.json", 100, now=lambda: clock[0])
    await budget.spend(100)
    clock[0] = NEXT

    budget.check()
    assert budget.used == 0
    await budget.spend(7)
    assert DayBudget.open(tmp_path / "tokens.json", 100, now=lambda: NEXT).used == 7


async def test_without_a_cap_tokens_are_counted_all_the_same(tmp_path: Path) -> None:
    budget = DayBudget.open(tmp_path / "tokens.json", None, now=lambda: NOON)
    await budget.spend(10_000_000)
    budget.check()
    assert budget.used == 10_000_000


def test_a_cap_of_zero_forbids_everything(tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        DayBudget.open(tmp_path / "tokens.json", 0).check()


def test_a_file_that_is_something_else_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text('{"day": "yesterday"}')
    with pytest.raises(StartupError, match=r"tokens\.json"):
        DayBudget.open(file, 100)
