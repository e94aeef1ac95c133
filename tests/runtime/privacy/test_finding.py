"""What is found in a text as personal data, and what is not."""

from itertools import pairwise

import pytest
from bench.personal_data import KINDS, NONE, corpus, measured
from hypothesis import given
from hypothesis import strategies as st

from fourtier.runtime.privacy.finding import find
from fourtier.runtime.privacy.kinds import Kind, placeholder
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redact

EVERYTHING = PrivacyPolicy.model_validate(dict.fromkeys(KINDS, "redact"))

#: Of the texts that the classifier was written with, so many are found; none in vain.
CATCH_RATE, FALSE_ALARM_RATE = 0.98, 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind_as_many_are_found_as_ever(kind: Kind) -> None:
    assert measured("first").catch_rate(kind) >= CATCH_RATE


def test_there_are_as_few_false_alarms_as_ever() -> None:
    assert measured("first").false_alarm_rate <= FALSE_ALARM_RATE


def test_each_is_taken_for_the_kind_that_it_is() -> None:
    wrong = [
        (labelled.text, found)
        for labelled in corpus("first")
        if (found := labelled.found()) not in {labelled.kind, NONE}
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 01"),
        ("4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("756.9217.0769.85", "756.9217.0769.86"),
        ("123.456.789-09", "123.456.789-08"),
        ("12345678Z", "12345678A"),
        ("L898902C36UTO7408122F1204159", "L898902C36UTO7408122F1204158"),
    ],
)
def test_a_number_with_a_wrong_check_digit_is_something_else(right: str, wrong: str) -> None:
    assert len(find(f"It is {right}.")) == 1
    assert find(f"It is {wrong}.") == []


def test_what_is_left_of_a_text_says_what_was_left_out() -> None:
    text = "I'm Ann, my PIN is 4711, my IBAN is DE89 3704 0044 0532 0130 00, and I have HIV."
    redacted = redact(text, EVERYTHING)

    assert redacted.text == (
        "I'm Ann, my PIN is [left out: credential], my IBAN is [left out: iban], and I have "
        "[left out: health]."
    )
    assert redacted.counts == {"credential": 1, "iban": 1, "health": 1}


def test_what_is_kept_stays_word_for_word() -> None:
    text = "Write to ann@example.com or call +47 22 12 34 56; my passport is C01X00T47."
    assert redact(text, PrivacyPolicy(passport="keep")).text == text
    assert redact(text, PrivacyPolicy(passport="reject")).counts == {"passport": 1}


def test_a_number_that_two_kinds_match_is_the_more_dangerous_one() -> None:
    (span,) = find("My password is 4111 1111 1111 1111")
    assert (span.kind, span.start) == ("credential", 15)


def test_a_kind_that_is_kept_hides_none_that_is_not() -> None:
    policy = PrivacyPolicy(credential="keep", payment_card="redact")
    redacted = redact("My password is 4111-1111-1111-1111", policy)
    assert redacted.text == f"My password is {placeholder('payment-card')}"


def test_what_was_redacted_is_not_redacted_again() -> None:
    for labelled in corpus("first"):
        once = redact(labelled.text, EVERYTHING).text
        assert redact(once, EVERYTHING).text == once


@given(st.text(max_size=200), st.sampled_from(KINDS), st.text(max_size=200))
def test_a_placeholder_stays_whole(before: str, kind: Kind, after: str) -> None:
    text = f"{before} my password is {placeholder(kind)} {after}"
    assert placeholder(kind) in redact(text, EVERYTHING).text


@given(st.text(alphabet="0123456789 -+.@[]:aAisDEmy'\n", max_size=400))
def test_whatever_is_typed_the_spans_are_apart_and_in_order(text: str) -> None:
    spans = find(text)
    assert all(span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


PATHOLOGICAL = [
    "eyJ-", "pin: .", "sk-a ", "://a:", "pin for ", "password A1", "a@", "a.", "1 ", "1-", "(1",
    "+1 ", "A1", "DE89 ", "DE89", "passport ", "passport A1", "my depression ", "had had ",
    "I have my HIV ", "4111 1111 1111 1111 ", "tel 030 901820 ", "078-05-1120 ", "P<", "cancer ",
    "[left out: ", "[left out: iban]", "a at b dot ", "bearer ", "-----BEGIN PRIVATE KEY",
    "mnemonic is ", "order 4111111111111111 ", "a%", "0" , "a", " ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(100)  # where time grows with the square of the length, this takes minutes
@pytest.mark.parametrize("repeated", PATHOLOGICAL)
def test_a_very_long_text_is_searched_in_linear_time(repeated: str) -> None:
    text = repeated * (200_000 // len(repeated))
    assert redact(text, EVERYTHING).text
