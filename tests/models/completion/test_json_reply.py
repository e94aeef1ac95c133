"""Right JSON in other clothes: in a fence, behind words, behind a thought, as a thought."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.models.completion.dialects.choice import Dialects
from fourtier.models.completion.errors import ModelCutOffError, ModelMalformedError
from fourtier.models.completion.wire import Delta
from fourtier.schema.completion import (
    MALFORMED_ARGUMENTS,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolSpec,
)

QUESTION = (ChatMessage(role="user", content="Where do I live?"),)
CLOCK = ToolSpec(name="clock", description="The time.", parameters={"type": "object"})
OUTPUT = CompleteRequest(messages=QUESTION, output_schema={"type": "object"})
STEP = CompleteRequest(messages=QUESTION, tools=(CLOCK,))
JSON = '{"answer": "Oslo, {as} you said.", "thought": "I \\"know\\" it."}'

#: What a model writes, with its thought.
CLOTHES = [
    (JSON, ""),
    (f"```json\n{JSON}\n```", ""),
    (f"```\n{JSON}\n```\nI hope that this helps!", ""),
    (f"Here is the JSON:\n\n{JSON}", ""),
    (f"Here is the {{JSON}} that you asked for:\n```json\n{JSON}```", ""),
    (f'<think>Hm, {{"a": 1}}?</think>\n{JSON}', 'Hm, {"a": 1}?'),
    (
        f'I could say {{"a": 1}}.\n</think>\n\n{JSON}',
        "",
    ),  # the template of the prompt opened the tag
    (f"<think>\nHm.\n</think>\n\n```json\n{JSON}\n```", "\nHm.\n"),
]


def read(
    request: CompleteRequest,
    deltas: Sequence[dict[str, Any]],
    *,
    tools: bool = False,
    reason: str = "stop",
) -> list[CompletionPiece]:
    reader = Dialects(tools=tools).choose(request).reader(request)
    pieces = [piece for delta in deltas for piece in reader.take(Delta.model_validate(delta))]
    return [*pieces, *reader.finish(reason)]


def text(pieces: Sequence[CompletionPiece], kind: str) -> str:
    return "".join(piece.content for piece in pieces if piece.type == kind)


def cut(written: str, cuts: Sequence[int]) -> list[dict[str, Any]]:
    """The text as the parts of a stream."""
    at = [0, *sorted(min(each, len(written)) for each in cuts), len(written)]
    return [{"content": written[a:b]} for a, b in pairwise(at)]


@given(st.sampled_from(CLOTHES), st.lists(st.integers(0, 120)))
def test_structured_output_is_the_json_alone(case: tuple[str, str], cuts: list[int]) -> None:
    written, thought = case
    pieces = read(OUTPUT, cut(written, cuts))
    assert text(pieces, "answer") == JSON
    assert text(pieces, "thought") == thought


@given(st.sampled_from(CLOTHES), st.lists(st.integers(0, 120)))
def test_a_step_is_read_from_the_json_alone(case: tuple[str, str], cuts: list[int]) -> None:
    written, thought = case
    pieces = read(STEP, cut(written, cuts))
    assert text(pieces, "answer") == "Oslo, {as} you said."
    assert text(pieces, "thought") == f'{thought}I "know" it.'


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_json_in_the_field_of_the_thoughts_is_read(field: str) -> None:
    """A server that takes the whole reply of a grammar for the thought."""
    deltas = [{field: JSON[:9]}, {field: JSON[9:]}, {"content": ""}]
    assert text(read(OUTPUT, deltas), "answer") == JSON
    assert text(read(STEP, deltas), "answer") == "Oslo, {as} you said."


def test_a_thought_in_words_stays_one_beside_the_json() -> None:
    pieces = read(OUTPUT, [{"reasoning_content": "{Hm}"}, {"content": JSON}])
    assert (text(pieces, "thought"), text(pieces, "answer")) == ("{Hm}", JSON)


@pytest.mark.parametrize(
    "deltas",
    [
        [{"content": f"<think>I could say {JSON}"}],
        [{"content": "<thi"}, {"content": "nk>It is"}, {"content": " Oslo."}],
        [{"reasoning_content": "It is Oslo."}],
        [{"content": "<think>It is Oslo.</think>"}],
    ],
)
@pytest.mark.parametrize(("request_", "tools"), [(OUTPUT, False), (STEP, False), (STEP, True)])
def test_a_thought_is_never_an_answer(
    deltas: list[dict[str, Any]], request_: CompleteRequest, *, tools: bool
) -> None:
    reader = Dialects(tools=tools).choose(request_).reader(request_)
    pieces = [piece for delta in deltas for piece in reader.take(Delta.model_validate(delta))]
    with pytest.raises(ModelMalformedError):
        pieces += reader.finish("stop")
    assert text(pieces, "answer") == ""
    assert "Oslo" in text(pieces, "thought")


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}"])
def test_empty_arguments_are_none(arguments: str) -> None:
    function = {"name": "clock", "arguments": arguments}
    (action,) = read(STEP, [{"tool_calls": [{"function": function}]}], tools=True)
    assert (action.tool, action.arguments) == ("clock", {})


@pytest.mark.parametrize("arguments", ['""', "null", "{}"])
def test_empty_arguments_of_a_step_are_none(arguments: str) -> None:
    written = f'{{"action": "clock", "arguments": {arguments}}}'
    (action,) = read(STEP, [{"content": written}])
    assert (action.tool, action.arguments) == ("clock", {})


@pytest.mark.parametrize(
    "arguments",
    ['```json\n{"zone": "CET"}\n```', '"{\\"zone\\": \\"CET\\"}"', {"zone": "CET"}],
)
def test_arguments_in_other_clothes_are_read(arguments: str | dict[str, str]) -> None:
    function = {"name": "clock", "arguments": arguments}
    (action,) = read(STEP, [{"tool_calls": [{"function": function}]}], tools=True)
    assert action.arguments == {"zone": "CET"}


def test_arguments_that_are_no_json_are_still_quoted() -> None:
    function = {"name": "clock", "arguments": 'zone: {"CET"}'}
    (action,) = read(STEP, [{"tool_calls": [{"function": function}]}], tools=True)
    assert action.arguments == {MALFORMED_ARGUMENTS: 'zone: {"CET"}'}


@pytest.mark.parametrize("written", ['{"facts": [{"a": 1}, {"b": 2]}', 'Here: {"facts": [{"a": 1}'])
def test_a_part_of_broken_json_is_not_taken_for_the_whole(written: str) -> None:
    with pytest.raises(ModelMalformedError, match="not JSON"):
        read(OUTPUT, [{"content": written}])
    with pytest.raises(ModelCutOffError):
        read(OUTPUT, [{"content": written}], reason="length")


def test_a_fence_within_the_json_is_part_of_it() -> None:
    written = '{"answer": "Use ```[1]```."}'
    assert text(read(OUTPUT, [{"content": f"{written} So it is."}]), "answer") == written
    assert text(read(OUTPUT, [{"content": f"```json\n{written}\n```"}]), "answer") == written


def test_json_of_endless_depth_is_an_error() -> None:
    with pytest.raises(ModelMalformedError):
        read(OUTPUT, [{"content": 'So: {"a":' + "[" * 100_000}])


def test_json_that_is_not_an_object_is_read_too() -> None:
    assert text(read(OUTPUT, [{"content": "```json\n[1, 2]\n```"}]), "answer") == "[1, 2]"
    assert text(read(OUTPUT, [{"content": " 7 "}]), "answer") == "7"


def test_a_long_json_shows_that_it_is_coming() -> None:
    """The caller's deadline is for the next piece, not for the whole."""
    reader = Dialects(tools=False).choose(OUTPUT).reader(OUTPUT)
    assert [piece.type for piece in reader.take(Delta(content='{"a": '))] == ["answer"]
