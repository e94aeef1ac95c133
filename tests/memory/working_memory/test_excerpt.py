"""Texts made short: within the limit, of words that were there, with what later steps need."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fourtier.memory.working_memory.excerpt import Passage, fit
from fourtier.models.text.tokens import count_tokens

LONG = (
    "The hotel search returned 14 offers for Maui in June. "
    + "The next ones are far from the beach and not very nice. " * 10
    + "The Grand Wailea costs 4,280.50 dollars, code GW-2231-X, mail leilani@wailea.example. "
    + "Breakfast is included and parking is free for all the guests. " * 10
    + "In sum the cheapest was Kihei Shores at 1,950 dollars."
)
SENTENCES = st.lists(
    st.one_of(
        st.integers(0, 10**9).map("{:,}".format),
        st.from_regex(r"[A-Z]{2}-\d{4}", fullmatch=True),
        st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20),
    ),
    max_size=120,
).map(" ".join)


def test_a_short_text_stays_as_it_is() -> None:
    assert Passage("All is well.").cut(12) == "All is well."


def test_beginning_end_and_what_later_steps_need_survive() -> None:
    short = Passage(LONG).cut(300)

    assert short.startswith("The hotel search returned 14 offers")
    assert short.endswith("Kihei Shores at 1,950 dollars.")
    for needed in ("4,280.50 dollars", "GW-2231-X", "leilani@wailea.example", "Wailea"):
        assert needed in short


@pytest.mark.parametrize("limit", [30, 60, 120])
def test_the_less_room_the_more_it_is_for_numbers(limit: int) -> None:
    assert "4,280.50" in Passage(LONG).cut(limit)


def test_compact_json_keeps_whole_fields() -> None:
    hotels = [{"name": f"hotel {n}", "price": 1_000 + 37 * n} for n in range(60)]

    short = Passage(json.dumps(hotels, separators=(",", ":"))).cut(200)

    prices = re.findall(r'"price":(\d+)}', short)
    assert len(prices) >= 4
    assert {int(price) for price in prices} <= {hotel["price"] for hotel in hotels}
    assert short.count('"price":') == len(prices)
    assert short.endswith('"price":3183}]')


@given(SENTENCES, st.integers(1, 400))
@example("1,000,000 1,000,000,000 0 100,000 0", 26)
@example("00 100", 5)
def test_a_cut_is_within_its_limit_and_invents_no_word(text: str, limit: int) -> None:
    passage = Passage(text)
    short = passage.cut(limit)

    assert len(short) <= limit
    if len(passage.whole) > limit and " " in short:
        assert set(short.split()) - {"…"} <= set(passage.words)


@given(SENTENCES, st.integers(1, 100))
def test_what_is_fitted_fits(text: str, tokens: int) -> None:
    assert count_tokens(fit(text, tokens)) <= tokens
