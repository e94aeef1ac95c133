"""Where a sentence ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.memory.statements.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "My budget is 10,000 dollars. I have 3.5 weeks.",
            ["My budget is 10,000 dollars.", "I have 3.5 weeks."],
        ),
        (
            "Dr. Smith saw me on Monday. Mrs. Lee did not.",
            ["Dr. Smith saw me on Monday.", "Mrs. Lee did not."],
        ),
        (
            "I like fruit, e.g. Apples and pears. And bread.",
            ["I like fruit, e.g. Apples and pears.", "And bread."],
        ),
        (
            "I read https://a.example/b.html?c=1. It is long.",
            ["I read https://a.example/b.html?c=1.", "It is long."],
        ),
        ("Write to ann.lee@mail.example. I do.", ["Write to ann.lee@mail.example.", "I do."]),
        ("I was... not sure. Really?! Yes.", ["I was... not sure.", "Really?!", "Yes."]),
        ("So I left… Then I slept.", ["So I left…", "Then I slept."]),
        ("I met J. K. Rowling in the U.S. Navy.", ["I met J. K. Rowling in the U.S. Navy."]),
        ("I left at 5 p.m. I slept well.", ["I left at 5 p.m.", "I slept well."]),
        (
            'She said "Stop! Go home." and left. I ran.',
            ['She said "Stop! Go home." and left.', "I ran."],
        ),
        ('He shouted "No!" I ran.', ['He shouted "No!"', "I ran."]),
        (
            "It was late (very late. Really) and cold.",
            ["It was late (very late. Really) and cold."],
        ),
        ("i live in oslo. i work at a bank", ["i live in oslo.", "i work at a bank"]),
        ("I live in Oslo.I work at a bank.", ["I live in Oslo.", "I work at a bank."]),
        ("I use Node.js and v1.2 of it.", ["I use Node.js and v1.2 of it."]),
        ("No. 5 is mine. No. I mean 6.", ["No. 5 is mine.", "No.", "I mean 6."]),
        ("Great! 😀 I went home.", ["Great! 😀", "I went home."]),
        ("我住在奥斯陆。我有一只猫。", ["我住在奥斯陆。", "我有一只猫。"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_items_of_a_list_are_sentences_of_their_own() -> None:
    text = "About me:\n1. I live in Oslo with two cats and a dog\n2. I work at a bank.\n- I sing."
    assert sentences(text)[1:] == [
        "I live in Oslo with two cats and a dog",
        "I work at a bank.",
        "I sing.",
    ]


def test_short_items_belong_to_the_line_above_them() -> None:
    text = "My allergies are:\n- peanuts\n- shellfish\n\nI live in Oslo."
    assert sentences(text) == ["My allergies are: peanuts; shellfish", "I live in Oslo."]


def test_a_wrapped_line_goes_on() -> None:
    assert sentences("I live in Oslo\nwith my two cats.") == ["I live in Oslo with my two cats."]


def test_code_and_quoted_lines_are_left_out() -> None:
    text = "> I hate cats.\nI love cats.\n```\nprint('I am code.')\n```\nThey purr."
    assert sentences(text) == ["I love cats.", "They purr."]


def test_a_sentence_without_end_is_cut_at_words() -> None:
    parts = sentences("word " * 1_000)
    assert len(parts) > 1
    assert all(len(part) <= 600 for part in parts)
    assert " ".join(parts).split() == ["word"] * 1_000


@given(st.text(max_size=2_000))
def test_whatever_is_typed_gives_bounded_sentences_that_are_not_blank(text: str) -> None:
    for sentence in sentences(text):
        assert sentence.strip() == sentence
        assert 0 < len(sentence) <= 600


@pytest.mark.slow
@pytest.mark.timeout(100)  # where time grows with the square of the length, this takes minutes
@pytest.mark.parametrize("repeated", ["dr. ", "(a. ", "- a\n", "!"])
def test_a_very_long_text_is_split_in_linear_time(repeated: str) -> None:
    text = "x:\n" + repeated * (4_000_000 // len(repeated))
    assert sentences(text)
