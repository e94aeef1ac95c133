"""What relative dates mean on the day on which they are said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.memory.statements.dates import relative_dates

#: A Wednesday.
SAID = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("I went to yoga yesterday.", {"yesterday": "2026-03-03"}),
        ("I had pizza last night", {"last night": "2026-03-03"}),
        ("The vet comes the day after tomorrow", {"the day after tomorrow": "2026-03-06"}),
        ("I ran 8 km this morning.", {"this morning": "2026-03-04"}),
        ("My flight is on Monday.", {"monday": "2026-03-09"}),
        ("We visited the zoo on Monday.", {"monday": "2026-03-02"}),
        ("We visited the zoo on Wednesday.", {"wednesday": "2026-02-25"}),
        ("The report is due next Friday.", {"next friday": "2026-03-06"}),
        ("We met last Friday.", {"last friday": "2026-02-27"}),
        ("I moved two weeks ago.", {"two weeks ago": "2026-W08"}),
        ("I moved a month ago.", {"a month ago": "2026-02"}),
        ("I moved 3 years ago.", {"3 years ago": "2023"}),
        ("The baby comes in three months.", {"in three months": "2026-06"}),
        ("We go to Rome next week.", {"next week": "2026-W11"}),
        ("I was ill last weekend.", {"last weekend": "2026-02-28"}),
        ("We changed banks last year.", {"last year": "2025"}),
        (
            "I came yesterday and leave tomorrow.",
            {"yesterday": "2026-03-03", "tomorrow": "2026-03-05"},
        ),
        ("I play tennis on Tuesdays.", {}),
        ("My birthday is on 3 May.", {}),
        ("I live in Oslo.", {}),
    ],
)
def test_relative_dates_are_resolved_where_they_are_said(text: str, dates: dict[str, str]) -> None:
    assert relative_dates(text, SAID) == dates


def test_months_and_years_are_crossed() -> None:
    new_year = datetime(2026, 1, 1, tzinfo=UTC)
    assert relative_dates("I left yesterday, two months ago I came.", new_year) == {
        "yesterday": "2025-12-31",
        "two months ago": "2025-11",
    }


@given(st.datetimes(timezones=st.just(UTC)), st.text(max_size=200))
def test_whatever_is_said_whenever_has_dates_or_none(said: datetime, text: str) -> None:
    relative_dates(f"{text} yesterday, 300 years ago, in 200 months, next Monday", said)
