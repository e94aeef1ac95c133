"""What is a thought and what is an answer, however the text is cut into pieces."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.models.completion.dialects.thoughts import HOLD, Splitter
from fourtier.schema.completion import CompletionPiece

LONG = "This is said at length, and it does not lead to a tool call at all. " * 3


def joined(pieces: Sequence[CompletionPiece]) -> tuple[str, str]:
    """All thought and all answer."""
    return (
        "".join(piece.content for piece in pieces if piece.type == "thought"),
        "".join(piece.content for piece in pieces if piece.type == "answer"),
    )


def read(parts: Sequence[str], *, call: bool, hold: int = HOLD) -> tuple[str, str]:
    splitter = Splitter(hold)
    pieces = [piece for part in parts for piece in splitter.take(part)]
    pieces += splitter.call_follows() if call else splitter.finish()
    return joined(pieces)


TEXTS = [
    ("<thought>I must add.</thought>", True, ("I must add.", "")),
    ("<thought>I know it.</thought>\n\nIt is 4.", False, ("I know it.", "It is 4.")),
    ("<think>\nHm.\n</think><thought>Add.</thought>4", False, ("\nHm.\nAdd.", "4")),
    ("Let me look that up.", True, ("Let me look that up.", "")),
    ("It is 4.", False, ("", "It is 4.")),
    ("  It is 4 < 5.", False, ("", "It is 4 < 5.")),
    ("<b>4</b>", False, ("", "<b>4</b>")),
    ("<thought>It is 4.</thought>", False, ("It is 4.", "")),
    ("<thought>It is 4.", False, ("It is 4.", "")),
    ("<think>It is 4.</thi", False, ("It is 4.</thi", "")),
    ("<thought>", True, ("", "")),
    ("<thought>Look.</thought>I will look.", True, ("Look.I will look.", "")),
    ("<tho", False, ("", "<tho")),
    ("4 </thought> 5", False, ("", "4 </thought> 5")),
    (LONG, False, ("", LONG)),
    (LONG, True, ("", LONG)),
    ("", False, ("", "")),
]


@pytest.mark.parametrize(("text", "call", "expected"), TEXTS)
def test_whole_texts(text: str, call: bool, expected: tuple[str, str]) -> None:
    assert read([text], call=call) == expected


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 220)))
def test_pieces_make_no_difference(
    case: tuple[str, bool, tuple[str, str]], cuts: list[int]
) -> None:
    text, call, expected = case
    cuts_at = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parts = [text[a:b] for a, b in pairwise(cuts_at)]
    if text is LONG and call:
        # What was over the limit when the call came is said already; the whole of it is.
        assert "".join(read(parts, call=call)) == LONG
    else:
        assert read(parts, call=call) == expected


def test_an_answer_streams_at_once_when_no_tool_can_follow() -> None:
    assert joined(list(Splitter(0).take("It"))) == ("", "It")


def test_an_answer_streams_once_it_is_too_long_for_a_preface() -> None:
    splitter = Splitter(HOLD)
    assert list(splitter.take("a" * HOLD)) == []
    assert joined(list(splitter.take("b"))) == ("", "a" * HOLD + "b")
    assert joined(list(splitter.take("c"))) == ("", "c")


def test_a_thought_streams_at_once() -> None:
    splitter = Splitter(HOLD)
    assert joined(list(splitter.take("<thought>I mu"))) == ("I mu", "")
    assert joined(list(splitter.take("st add.</tho"))) == ("st add.", "")
    assert joined(list(splitter.take("rns"))) == ("</thorns", "")
