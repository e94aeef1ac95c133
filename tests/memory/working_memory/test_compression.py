"""Traces made short: the latest steps word for word, the rest bounded, results preserved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.memory.working_memory.compression import (
    Condensed,
    by_rule,
    in_order,
    resolved,
    room_for,
    shown,
)
from fourtier.memory.working_memory.rule_compression import condense
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.working_memory import Trace, WorkingMemoryItem
from tests.memory.working_memory.support import found, item, step, steps


def compress(
    items: list[WorkingMemoryItem],
    *,
    before: Condensed | None = None,
    threshold: int,
    keep_last: int = 2,
) -> Condensed:
    condensed, plan = resolved(items, before or Condensed(), threshold, keep_last)
    return by_rule(items, plan) if plan else condensed


def view(items: list[WorkingMemoryItem], *, threshold: int, keep_last: int = 2) -> Trace:
    return shown(items, compress(items, threshold=threshold, keep_last=keep_last))


def test_a_trace_within_its_threshold_is_shown_whole() -> None:
    items = steps(0, 3)

    trace = view(items, threshold=1_000)

    assert trace == Trace(items=tuple(items), tokens=trace.tokens)
    assert trace.tokens == sum(count_tokens(each.content) for each in items)


def test_the_latest_steps_stay_word_for_word_and_the_others_are_condensed() -> None:
    items = steps(0, 8)

    trace = view(items, threshold=200, keep_last=3)

    assert trace.items == tuple(steps(5, 8))
    assert len(trace.condensed.splitlines()) == 5
    assert trace.tokens == count_tokens(trace.condensed) + sum(
        count_tokens(each.content) for each in trace.items
    )


def test_nothing_is_condensed_of_steps_that_are_to_stay() -> None:
    items = step(0, "word " * 500)

    assert view(items, threshold=10).items == tuple(items)


def test_results_and_decisions_of_all_older_steps_survive() -> None:
    items = steps(0, 20)

    condensed = view(items, threshold=500).condensed

    for number in range(18):
        assert f"{number}. " in condensed
        assert f'search({{"offer": {number}}}) ->' in condensed
        assert f"{found(number)} dollars" in condensed


def test_numbers_of_long_results_survive() -> None:
    noise = "and there is much more to be said of it " * 60
    items = [
        each for n in range(10) for each in step(n, f"{noise}It is {found(n)} dollars. {noise}")
    ]

    condensed = view(items, threshold=1_000).condensed

    for number in range(8):
        assert f"{found(number)} dollars" in condensed


def test_a_thought_without_an_action_is_a_decision_and_stays() -> None:
    items = [item(0, "thought", "The cheap one is better."), *steps(1, 12)]

    assert "0. The cheap one is better." in view(items, threshold=250).condensed


def test_an_action_without_a_result_says_so() -> None:
    items = [item(0, "action", "pay(12)"), *steps(1, 12)]

    assert "0. pay(12) -> (no result is known)" in view(items, threshold=250).condensed


@pytest.mark.parametrize("number", [3, 10, 100, 1_000])
@pytest.mark.parametrize("threshold", [1, 50, 200, 2_000])
def test_the_condensed_part_is_bounded_however_many_steps_there_are(
    number: int, threshold: int
) -> None:
    condensed = compress(steps(0, number), threshold=threshold).text

    assert count_tokens(condensed) <= room_for(threshold)
    assert room_for(2_000) <= 1_000


def test_steps_that_are_too_many_are_counted_and_the_latest_are_shown() -> None:
    condensed = view(steps(0, 1_000), threshold=400).condensed.splitlines()

    assert condensed[0].startswith("Steps 0 to 9")
    assert condensed[0].endswith("x.")
    assert condensed[-1].startswith("997. search")
    assert found(997) in condensed[-1]


def test_what_is_condensed_stays_until_the_trace_has_grown_past_the_threshold_again() -> None:
    first = compress(steps(0, 14), threshold=350)
    assert first.through == 11

    assert compress(steps(0, 15), before=first, threshold=350) is first

    later = compress(steps(0, 20), before=first, threshold=350)
    assert later.through == 17
    assert found(0) in later.text


def test_more_steps_are_shown_again_when_more_are_asked_for() -> None:
    items = steps(0, 14)
    first = compress(items, threshold=350, keep_last=2)

    trace = shown(items, compress(items, before=first, threshold=350, keep_last=5))

    assert trace.items == tuple(steps(9, 14))


def test_items_of_a_step_have_one_order_whatever_their_clocks_say() -> None:
    items = [item(1, "observation", "o"), item(1, "thought", "t"), item(0, "observation", "first")]
    late = item(1, "action", "a").model_copy(update={"timestamp": item(99, "action", "").timestamp})

    assert [each.content for each in in_order([*items, late])] == ["first", "t", "a", "o"]


TEXTS = st.text(max_size=300)


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=12),
    st.integers(1, 400),
    st.integers(1, 4),
)
def test_any_trace_keeps_what_is_promised(
    texts: list[tuple[str, str, str]], threshold: int, keep_last: int
) -> None:
    items = [
        each
        for number, (thought, action, observation) in enumerate(texts)
        for each in (
            item(number, "thought", thought),
            item(number, "action", action),
            item(number, "observation", observation),
        )
    ]

    trace = view(items, threshold=threshold, keep_last=keep_last)

    verbatim = 3 * min(keep_last, len(texts))
    assert trace.items[-verbatim:] == tuple(items[-verbatim:])
    assert count_tokens(trace.condensed) <= room_for(threshold)
    assert bool(trace.condensed) == (len(trace.items) < len(items))


@given(st.lists(TEXTS, min_size=1, max_size=40), st.integers(1, 200))
def test_what_is_condensed_fits_and_is_the_same_each_time(texts: list[str], tokens: int) -> None:
    items = [item(number, "observation", text) for number, text in enumerate(texts)]

    assert count_tokens(condense(items, tokens)) <= tokens
    assert condense(items, tokens) == condense(items, tokens)
