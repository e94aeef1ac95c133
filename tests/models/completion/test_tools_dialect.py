"""Dialect `tools`: the API's own tool calls, from the pieces in which they stream."""

from collections.abc import Sequence
from typing import Any

import pytest

from fourtier.models.completion.dialects.tools import ToolsDialect
from fourtier.models.completion.errors import (
    ModelCutOffError,
    ModelMalformedError,
    ModelRejectedError,
)
from fourtier.models.completion.wire import Delta
from fourtier.schema.completion import (
    MALFORMED_ARGUMENTS,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolSpec,
)

CALCULATOR = ToolSpec(
    name="calculator",
    description="Compute.",
    parameters={"type": "object", "properties": {"expression": {"type": "string"}}},
)
QUESTION = (ChatMessage(role="user", content="1+1?"),)
WITH_TOOLS = CompleteRequest(messages=QUESTION, tools=(CALCULATOR,))
WITHOUT = CompleteRequest(messages=QUESTION)
DIALECT = ToolsDialect()


def call(arguments: str = "", **more: Any) -> dict[str, Any]:
    name = more.pop("name", None)
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}, **more}]}


def read(
    deltas: Sequence[dict[str, Any]],
    reason: str = "stop",
    *,
    request: CompleteRequest = WITH_TOOLS,
) -> list[CompletionPiece]:
    reader = DIALECT.reader(request)
    pieces = [piece for delta in deltas for piece in reader.take(Delta.model_validate(delta))]
    return [*pieces, *reader.finish(reason)]


def test_tools_go_out_as_functions() -> None:
    prompt = DIALECT.prompt(WITH_TOOLS).model_dump(by_alias=True, exclude_none=True)

    assert prompt["tools"] == (
        {
            "type": "function",
            "function": {
                "name": "calculator",
                "description": "Compute.",
                "parameters": CALCULATOR.parameters,
            },
        },
    )
    assert prompt["parallel_tool_calls"] is False
    system, question = prompt["messages"]
    assert "<thought>" in system["content"]
    assert question == {"role": "user", "content": "1+1?"}


def test_without_tools_nothing_is_added() -> None:
    assert DIALECT.prompt(WITHOUT).model_dump(exclude_none=True) == {
        "messages": ({"role": "user", "content": "1+1?"},)
    }


def test_a_call_is_assembled_from_its_pieces() -> None:
    pieces = read(
        [
            {"content": "<thought>I must"},
            {"content": " add.</thought>"},
            call(name="calculator", index=0, id="c1"),
            call('{"expr', index=0),
            call('ession": "1+1"}', index=0),
        ],
        "tool_calls",
    )
    assert [(piece.type, piece.content) for piece in pieces[:-1]] == [
        ("thought", "I must"),
        ("thought", " add."),
    ]
    assert pieces[-1] == CompletionPiece(
        type="action", tool="calculator", arguments={"expression": "1+1"}
    )


def test_text_without_tags_before_a_call_is_the_thought() -> None:
    thought, action = read([{"content": "I must add."}, call(name="calculator")])
    assert (thought.type, thought.content) == ("thought", "I must add.")
    assert action.arguments == {}


def test_reasoning_in_a_field_of_its_own_is_the_thought() -> None:
    pieces = read(
        [{"reasoning_content": "Easy"}, {"reasoning": "."}, {"content": "2"}], request=WITHOUT
    )
    assert [(piece.type, piece.content) for piece in pieces] == [
        ("thought", "Easy"),
        ("thought", "."),
        ("answer", "2"),
    ]


def test_only_the_first_call_is_used(caplog: pytest.LogCaptureFixture) -> None:
    pieces = read(
        [
            call("{}", name="calculator", index=0, id="c1"),
            call('{"zone": 1}', name="clock", index=1, id="c2"),
            call('{"x": 1}', name="weather", id="c3"),  # an endpoint that leaves out the index
        ]
    )
    assert [(piece.tool, piece.arguments) for piece in pieces] == [("calculator", {})]
    assert "only calculator is used, and not clock" in caplog.text
    assert "not weather" in caplog.text


@pytest.mark.parametrize("arguments", ["{expression: 1+1", '"1+1"', "[1]", "1+1"])
def test_arguments_that_are_not_a_json_object_are_passed_on_as_malformed(arguments: str) -> None:
    (action,) = read([call(arguments, name="calculator")])
    assert action.arguments == {MALFORMED_ARGUMENTS: arguments}


def test_a_late_call_is_passed_on_although_the_answer_has_begun() -> None:
    *answer, action = read([{"content": "I will explain. " * 20}, call(name="calculator")])
    assert {piece.type for piece in answer} == {"answer"}
    assert action.tool == "calculator"


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("stop", ModelMalformedError),
        ("length", ModelCutOffError),
        ("content_filter", ModelRejectedError),
    ],
)
def test_neither_answer_nor_call_is_an_error(reason: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read([{"reasoning_content": "Hm."}, {"content": None}], reason)


def test_an_answer_that_was_cut_off_is_given_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read([{"content": "It is"}], "length")[0].content == "It is"
    assert "max-tokens" in caplog.text


OUTPUT = CompleteRequest(messages=QUESTION, output_schema={"type": "object"}, tools=(CALCULATOR,))


def test_an_output_schema_goes_out_as_response_format_and_without_tools() -> None:
    prompt = DIALECT.prompt(OUTPUT).model_dump(by_alias=True, exclude_none=True)
    assert prompt == {
        "messages": ({"role": "user", "content": "1+1?"},),
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "output", "schema": {"type": "object"}},
        },
    }


def test_for_an_endpoint_without_schemas_the_prompt_has_the_schema() -> None:
    prompt = ToolsDialect(json_mode="object").prompt(OUTPUT)
    assert prompt.model_dump(exclude_none=True)["response_format"] == {"type": "json_object"}
    assert '{"type": "object"}' in prompt.messages[0].content


def test_output_is_one_answer() -> None:
    pieces = read([{"content": '{"a":'}, {"content": " 1}"}], request=OUTPUT)
    assert {piece.type for piece in pieces} == {"answer"}
    assert "".join(piece.content for piece in pieces) == '{"a": 1}'


@pytest.mark.parametrize(
    ("text", "reason", "error"),
    [
        ('{"a": ', "length", ModelCutOffError),
        ("I cannot do that.", "stop", ModelMalformedError),
        ("", "stop", ModelMalformedError),
    ],
)
def test_output_that_is_no_json_is_an_error(text: str, reason: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read([{"content": text}], reason, request=OUTPUT)
