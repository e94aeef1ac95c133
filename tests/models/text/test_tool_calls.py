"""A use of a tool as a line of text, and read back."""

import json
from typing import Any

import pytest

from fourtier.models.text.tool_calls import ToolUse, written


def test_what_is_written_is_read_back() -> None:
    arguments: dict[str, Any] = {
        "to": "Rome",
        "seats": 2,
        "window": True,
        "via": ["Oslo): ", "Bergen"],
    }
    line = f"{written('book-flight.now', arguments, 300)}: booked): seat 4A"

    assert ToolUse.read(line) == ToolUse("book-flight.now", arguments, "booked): seat 4A")


def test_a_tool_without_arguments_is_one_too() -> None:
    assert ToolUse.read(f"{written('clock', {}, 300)}: 9:00") == ToolUse("clock", {}, "9:00")


def test_of_long_arguments_every_one_is_named_and_the_long_values_are_cut() -> None:
    arguments: dict[str, Any] = {
        "cabin": "economy",
        "text": "word " * 500,
        "list": ["flight " * 50],
    }
    line = written("book", arguments, 200)
    use = ToolUse.read(line)

    assert len(line) <= len("book()") + 200
    assert use is not None
    assert set(use.arguments) == {"cabin", "text", "list"}
    assert use.arguments["cabin"] == "economy"
    assert str(use.arguments["text"]).endswith("…")


def test_of_very_many_arguments_the_last_ones_are_left_out() -> None:
    line = written("book", {f"name{number}": number for number in range(200)}, 200)

    assert len(line) <= 210
    assert line.startswith('book({"name0": 0, ')
    assert ToolUse.read(line) is not None


def test_arguments_that_cannot_be_read_leave_the_tool_and_its_result() -> None:
    assert ToolUse.read('pay({"card": [redacted: card]}): paid') == ToolUse("pay", {}, "paid")
    assert ToolUse.read('pay({"card": "12 …') == ToolUse("pay", {}, "")


@pytest.mark.parametrize(
    "line", ["", "Searched (twice): found", "searched for flights", "f(x): y", "(nothing)", "1({})"]
)
def test_a_step_in_words_is_no_use_of_a_tool(line: str) -> None:
    assert ToolUse.read(line) is None


def test_a_short_call_is_written_as_json() -> None:
    assert (
        written("search", {"to": "Zürich"}, 300)
        == f"search({json.dumps({'to': 'Zürich'}, ensure_ascii=False)})"
    )
