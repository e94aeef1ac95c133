"""What counts as said of what a model writes down."""

import pytest

from fourtier.memory.learning.grounding import Source

SAID = "Since May we live in Oslo, with our 2 cats. The flat costs 12,500 kroner a month."


@pytest.mark.parametrize(
    "quote",
    [
        "we live in Oslo",
        "We  live in\nOslo",
        "\u201cwe live in Oslo\u201d",
        "we live in Oslo ... 12,500 kroner",
        "Since May \u2026 our 2 cats.",
        SAID,
    ],
)
def test_a_quote_is_found_although_it_is_written_in_another_way(quote: str) -> None:
    assert Source(SAID).quoted(quote)


@pytest.mark.parametrize(
    "quote", ["", " ", ".", "...", "we lived in Oslo", "we live ... in Bergen"]
)
def test_what_was_not_said_is_no_quote(quote: str) -> None:
    assert not Source(SAID).quoted(quote)


@pytest.mark.parametrize(
    "content",
    [
        "Ann lives in Oslo.",
        "Ann has lived in Oslo since May 2025.",
        "Ann has two cats.",
        "Ann's flat costs 12500 kroner a month.",
        "Ann's flat in Oslo costs 12,500 kroner.",
    ],
)
def test_without_a_quote_its_words_count(content: str) -> None:
    assert Source(SAID, known="Ann").supports(content, "")


@pytest.mark.parametrize(
    "content",
    [
        "Ann lives in Bergen.",
        "Ann has three cats.",
        "Ann's flat costs 12,000 kroner a month.",
        "Ann enjoys hiking and sailing.",
        "Ann lives in Oslo with her partner Tom.",
        "Ann",
    ],
)
def test_without_a_quote_what_has_other_words_was_not_said(content: str) -> None:
    assert not Source(SAID, known="Ann").supports(content, "")
    assert not Source(SAID, known="Ann").supports(content, "I live there, believe me")


def test_a_real_quote_allows_other_words() -> None:
    source = Source("I quit smoking last week.", known="Ann")

    assert source.supports("Ann is a non-smoker since 2026-02-22.", "I quit smoking last week")
    assert not source.supports("Ann is a non-smoker since 2026-02-22.", "")


def test_names_and_numbers_of_the_assistant_are_not_the_speakers() -> None:
    source = Source("I love it there.", known="Ann", others="Oslo has 700,000 people.")

    assert not source.supports("Ann loves Oslo.", "I love it there.")
    assert not source.supports("Ann loves a town of 700,000.", "I love it there.")
    assert source.supports("Ann loves the place.", "I love it there.")


def test_what_is_known_already_may_be_named() -> None:
    source = Source("She moved to Rome.", known="Ann\nAnn has a sister called Anna.")

    assert source.supports("Ann's sister Anna moved to Rome.", "")
    assert not Source("She moved to Rome.", known="Ann").supports(
        "Ann's sister Anna moved to Rome.", ""
    )


def test_a_question_supports_what_it_states_and_not_what_it_asks() -> None:
    asked = "What should I cook for my daughter Mia who is allergic to nuts?"
    source = Source(asked, known="Ann")

    assert source.supports("Ann's daughter Mia is allergic to nuts.", asked)
    assert not source.supports("Ann likes to cook pasta with tomatoes.", asked)
    assert not Source("Where do I live?", known="Ann").supports(
        "Ann lives in Oslo.", "Where do I live?"
    )
