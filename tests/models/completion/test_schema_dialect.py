"""Dialect `schema`: a step as JSON, read while it is incomplete."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.models.completion.dialects.schema import SchemaDialect, SchemaReader
from fourtier.models.completion.dialects.step_schema import step_schema
from fourtier.models.completion.errors import ModelCutOffError, ModelMalformedError
from fourtier.models.completion.wire import Delta
from fourtier.schema.completion import (
    MALFORMED_ARGUMENTS,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolSpec,
)

CLOCK = ToolSpec(name="clock", description="The time.", parameters={"type": "object"})
SEARCH = ToolSpec(
    name="search",
    description="Look it up.",
    parameters={
        "type": "object",
        "properties": {"where": {"$ref": "#/$defs/Place"}, "query": {"type": "string"}},
        "required": ["where"],
        "$defs": {"Place": {"type": "string", "enum": ["web", "mail"]}},
    },
)
MESSAGES = (
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="What time is it?"),
)
WITH_TOOLS = CompleteRequest(messages=MESSAGES, tools=(CLOCK, SEARCH))


def read(parts: Sequence[str], reason: str = "stop") -> list[CompletionPiece]:
    reader = SchemaReader()
    pieces = [piece for part in parts for piece in reader.take(Delta(content=part))]
    return [*pieces, *reader.finish(reason)]


def sent(dialect: SchemaDialect, request: CompleteRequest = WITH_TOOLS) -> dict[str, Any]:
    return dialect.prompt(request).model_dump(by_alias=True, exclude_none=True)


def schema_of(prompt: dict[str, Any]) -> dict[str, Any]:
    return prompt["response_format"]["json_schema"]["schema"]


def test_a_step_is_an_answer_or_one_of_the_tools() -> None:
    answer, clock, search = schema_of(sent(SchemaDialect()))["anyOf"]

    assert list(answer["properties"]) == ["thought", "answer"]
    assert list(clock["properties"]) == ["thought", "action", "arguments"]
    assert clock["properties"]["action"] == {"const": "clock"}
    assert search["properties"]["arguments"]["required"] == ["where"]


def test_definitions_of_a_tool_are_found_from_the_root() -> None:
    schema = schema_of(sent(SchemaDialect()))
    arguments = schema["anyOf"][2]["properties"]["arguments"]

    assert arguments["properties"]["where"] == {"$ref": "#/$defs/search.Place"}
    assert "$defs" not in arguments
    assert schema["$defs"] == {"search.Place": {"type": "string", "enum": ["web", "mail"]}}


def test_the_prompt_describes_the_tools_too() -> None:
    system, question = sent(SchemaDialect())["messages"]
    assert system["content"].startswith("Be brief.\n\nReply with one JSON object")
    assert "- clock: The time." in system["content"]
    assert question["content"] == "What time is it?"


def test_without_tools_a_step_is_a_thought_and_an_answer() -> None:
    schema = schema_of(sent(SchemaDialect(), CompleteRequest(messages=MESSAGES)))
    assert schema["required"] == ["thought", "answer"]


def test_every_text_of_a_small_model_has_an_end() -> None:
    schema = step_schema((SEARCH,), longest=200)
    answer, search = schema["anyOf"]
    assert answer["properties"]["thought"]["maxLength"] == 200
    assert search["properties"]["arguments"]["properties"]["query"]["maxLength"] == 200
    assert "maxLength" not in schema["$defs"]["search.Place"]


def test_the_brief_form_asks_for_one_sentence_where_a_small_model_looks() -> None:
    prompt = sent(SchemaDialect(small=True, brief=True))
    system, question = prompt["messages"]

    assert system["content"] == "Be brief."
    assert question["content"].startswith("What time is it?\n\nReply in JSON")
    assert list(schema_of(prompt)["properties"]) == ["answer"]


def test_thought_and_answer_stream() -> None:
    reader = SchemaReader()

    def take(text: str) -> list[tuple[str, str]]:
        return [(piece.type, piece.content) for piece in reader.take(Delta(content=text))]

    assert take('{"tho') == []
    assert take('ught": "It ') == [("thought", "It ")]
    assert take('is late.", "answer"') == [("thought", "is late.")]
    assert take(': "Eigh') == [("answer", "Eigh")]
    assert take('t."}') == [("answer", "t.")]
    assert list(reader.finish("stop")) == []


def test_an_action_comes_whole() -> None:
    thought, action = read(['{"thought": "Look.", "action": "search", "argum', 'ents": {"a": 1}}'])
    assert thought.content == "Look."
    assert (action.type, action.tool, action.arguments) == ("action", "search", {"a": 1})


@given(
    thought=st.text(st.characters(exclude_categories=["Cs"])),
    answer=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    size=st.integers(1, 9),
    ascii_only=st.booleans(),
)
def test_any_text_arrives_as_it_was_written(
    thought: str, answer: str, size: int, ascii_only: bool
) -> None:
    text = json.dumps({"thought": thought, "answer": answer}, ensure_ascii=ascii_only)
    pieces = read([text[at : at + size] for at in range(0, len(text), size)])

    assert "".join(piece.content for piece in pieces if piece.type == "thought") == thought
    assert "".join(piece.content for piece in pieces if piece.type == "answer") == answer


@pytest.mark.parametrize(
    "text", ["It is eight.", '["a"]', '{"thought": "Hm."}', '{"answer": 8}', "{}", "", " \n "]
)
def test_what_is_no_step_is_an_error(text: str) -> None:
    with pytest.raises(ModelMalformedError):
        read([text])


def test_a_server_that_does_not_enforce_the_schema_is_recognised() -> None:
    with pytest.raises(ModelMalformedError, match="use the dialect `tools`"):
        read(["The time ", "is eight."])


def test_an_answer_cut_off_is_given_and_an_action_cut_off_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert [piece.content for piece in read(['{"answer": "It is'], "length")] == ["It is"]
    assert "max-tokens" in caplog.text
    with pytest.raises(ModelCutOffError):
        read(['{"action": "search", "arguments": {"a": "b'], "length")


def test_arguments_that_are_not_an_object_are_passed_on_as_malformed() -> None:
    (action,) = read(['{"action": "search", "arguments": "web"}'])
    assert action.arguments == {MALFORMED_ARGUMENTS: "web"}
