"""Endpoints that reject a parameter: they are asked without it, and that is remembered."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import (
    COMPLETE,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolCall,
    ToolSpec,
)
from tests.support.flow import running_flow
from tests.support.model import (
    Calls,
    Fails,
    ModelRequest,
    Reply,
    Says,
    ScriptedModel,
    Writes,
    scripted_model,
)

CLOCK = ToolSpec(name="clock", description="The time.", parameters={"type": "object"})
QUESTION = ChatMessage(role="user", content="What time is it?")
#: A prompt with an earlier action, as that of the second step of a run.
SECOND_STEP = (
    QUESTION,
    ChatMessage(role="assistant", content="I look.", tool_calls=(ToolCall(id="1", name="clock"),)),
    ChatMessage(role="tool", content="8 o'clock", tool="clock", tool_call_id="1"),
)
FACTS = {"type": "object", "properties": {"facts": {"type": "array"}}}


def openai(name: str) -> Fails:
    """As OpenAI rejects a parameter."""
    return Fails(400, "Unsupported parameter: it is not supported with this model.", param=name)


def by_name(name: str) -> Fails:
    """As many others do: in words alone."""
    return Fails(400, f"registry/qwen does not support `{name}`, use another model")


def fastapi(name: str) -> Fails:
    """As servers do that check the body with pydantic."""
    detail = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs", "input": 0}
    return Fails(422, body={"detail": [detail]})


class Make:
    """An endpoint that knows some parameters not, or one type of response format not."""

    def __init__(self, *unknown: str, how: Any = openai) -> None:
        self._unknown = unknown
        self._how = how
        self.rejected = 0

    def __call__(self, request: ModelRequest) -> Reply:
        sent = set(request.json)
        kind = request.json.get("response_format", {}).get("type")
        earlier = any(message["role"] == "tool" for message in request.messages)
        for name in self._unknown:
            if name in sent or (name == "tools" and earlier):
                self.rejected += 1
                return self._how(name)
            if name == kind:
                self.rejected += 1
                return self._how("response_format")
        return self._reply(request)

    @staticmethod
    def _reply(request: ModelRequest) -> Reply:
        if request.tools or request.is_step:
            return Calls("clock", thought="I look.")
        if request.schema or "facts" in request.text:
            return Writes({"facts": []})
        if '"action"' in request.text:
            return Says('{"thought": "I look.", "action": "clock", "arguments": {}}')
        return Says("It is eight.")


@asynccontextmanager
async def flow_with(make: Make, folder: Path) -> AsyncGenerator[tuple[Caller, ScriptedModel]]:
    services = {"completion": {"max-tokens": 50}}
    async with (
        scripted_model(script=make) as model,
        running_flow(folder, services, settings=model.settings) as flow,
    ):
        yield flow.caller, model


async def complete(caller: Caller, **more: Any) -> list[CompletionPiece]:
    request = CompleteRequest(**{"messages": (QUESTION,), "temperature": 0} | more)
    return [piece async for piece in caller.stream(COMPLETE, request)]


async def ask_all(caller: Caller) -> None:
    """What a flow asks: steps with a tool, an answer in words, and one with a schema."""
    for messages in [(QUESTION,), SECOND_STEP]:
        *_, action, _ = await complete(caller, messages=messages, tools=(CLOCK,))
        assert (action.type, action.tool, action.arguments) == ("action", "clock", {})
    pieces = await complete(caller)
    assert [each.content for each in pieces if each.type == "answer"] == ["It is eight."]
    pieces = await complete(caller, output_schema=FACTS)
    assert "".join(each.content for each in pieces if each.type == "answer") == '{"facts": []}'


@pytest.mark.parametrize("how", [openai, by_name, fastapi])
@pytest.mark.parametrize(
    "unknown",
    [
        ["temperature"],
        ["parallel_tool_calls"],
        ["stream_options"],
        ["stream"],
        ["max_tokens"],
        ["max_tokens", "max_completion_tokens"],
        ["tools"],
        ["json_schema"],
        ["json_schema", "json_object"],
        ["tools", "json_schema"],
        ["parallel_tool_calls", "tools", "json_schema", "json_object", "temperature"],
    ],
)
async def test_the_endpoint_is_asked_without_what_it_rejects_and_that_is_remembered(
    tmp_path: Path, unknown: list[str], how: Any
) -> None:
    make = Make(*unknown, how=how)
    async with flow_with(make, tmp_path) as (caller, model):
        await ask_all(caller)
        rejected, asked = make.rejected, len(model.requests)
        assert 1 <= rejected <= len(unknown)
        await ask_all(caller)
        assert make.rejected == rejected
        assert len(model.requests) == asked + 4


async def test_the_limit_of_tokens_goes_by_its_other_name(tmp_path: Path) -> None:
    async with flow_with(Make("max_tokens"), tmp_path) as (caller, model):
        await complete(caller)
    limits = [
        (each.json.get("max_tokens"), each.json.get("max_completion_tokens"))
        for each in model.requests
    ]
    assert limits == [(50, None), (None, 50)]


async def test_without_json_schemas_the_prompt_has_the_schema(tmp_path: Path) -> None:
    async with flow_with(Make("json_schema", "json_object"), tmp_path) as (caller, model):
        await complete(caller, output_schema=FACTS)
    formats = [each.json.get("response_format", {}).get("type") for each in model.requests]
    assert formats == ["json_schema", "json_object", None]
    assert ['"facts"' in each.text for each in model.requests] == [False, True, True]


async def test_an_error_about_something_else_is_not_taken_for_one(tmp_path: Path) -> None:
    """The error names another parameter, and its text has the name of one that was sent."""

    def reject(_: ModelRequest) -> Reply:
        return Fails(400, "messages with role 'tool' must follow 'tools'", param="messages")

    async with (
        scripted_model(script=reject) as model,
        running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow,
    ):
        with pytest.raises(CallFailedError, match="must follow") as error:
            await complete(flow.caller, tools=(CLOCK,))
    assert error.value.type == "model-rejected"
    assert len(model.requests) == 1


async def test_nothing_is_remembered_of_an_error_that_stays(tmp_path: Path) -> None:
    replies: list[Reply] = [
        Fails(400, "the temperature of the room is too high"),
        Fails(400, "no"),
        "Hello.",
    ]
    async with (
        scripted_model(*replies) as model,
        running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow,
    ):
        with pytest.raises(CallFailedError, match="no"):
            await complete(flow.caller)
        await complete(flow.caller)
    assert [each.json.get("temperature") for each in model.requests] == [0, None, 0]
