"""What counts as a yes to a list of three."""

import pytest

from fourtier.agents.react_mem.consent import agreed_numbers


@pytest.mark.parametrize(
    "message",
    ["yes", "Yes!", "YES, please.", "ok", "yes, forget all of these", "Yes, delete them for good.",
     "go ahead", "Sure, thanks", "all of them", "ja bitte", "Oui, s'il vous plaît.", "sí", "да",
     "はい", "\u201cyes\u201d", "Yes, that\u2019s right."],
)  # fmt: skip
def test_a_plain_yes_agrees_to_all(message: str) -> None:
    assert agreed_numbers(message, 3) == (1, 2, 3)


@pytest.mark.parametrize(
    ("message", "numbers"),
    [("1", (1,)), ("yes, 1 and 3", (1, 3)), ("3,1", (1, 3)), ("only number 2 please", (2,)),
     ("delete 2, 3", (2, 3)), ("1 2 3", (1, 2, 3))],
)  # fmt: skip
def test_numbers_choose(message: str, numbers: tuple[int, ...]) -> None:
    assert agreed_numbers(message, 3) == numbers


@pytest.mark.parametrize(
    "message",
    ["no", "No, yes would be wrong", "yes but not 2", "yes except 3", "all but 1", "don't", "nope",
     "yes?", "Are you sure?", "forget it", "Forget that.", "never mind", "4", "0", "1-3", "1 to 3",
     "yes, 7", "all 3", "", "   ", "?", "1.5", "Yes, I would like to know what the weather is",
     "keep 1", "wait, ok", "not all", "yes and no", "yesterday", "What is 2?",
     "yes " * 13, "ok, and what is the time", "\u00bfsí?", "yes, the first one"],
)  # fmt: skip
def test_anything_else_agrees_to_nothing(message: str) -> None:
    assert agreed_numbers(message, 3) == ()
