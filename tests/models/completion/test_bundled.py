"""The model in the packages: real, small, and answering."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fourtier.models.completion import bundled
from fourtier.runtime.errors import CallFailedError, StartupError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import (
    COMPLETE,
    ChatMessage,
    CompleteRequest,
    CompletionPiece,
    ToolSpec,
)
from tests.support.flow import running_flow

#: Whatever the developer's environment names.
NONE_NAMED = {"model_url": None, "model_key": None, "model_name": None}
CLOCK = ToolSpec(
    name="clock",
    description="The time.",
    parameters={"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
)
SYSTEM = (
    "You are a helpful assistant. What you know about the user:\n- ann: My sister plays the cello"
)


@asynccontextmanager
async def completion(data: Path, **parameters: Any) -> AsyncGenerator[Caller]:
    async with running_flow(data, {"completion": parameters}, settings=NONE_NAMED) as flow:
        yield flow.caller


async def complete(caller: Caller, question: str, **more: Any) -> list[CompletionPiece]:
    messages = (
        ChatMessage(role="system", content=SYSTEM),
        ChatMessage(role="user", content=question),
    )
    request = CompleteRequest(messages=messages, **more)
    return [piece async for piece in caller.stream(COMPLETE, request)]


async def test_it_answers_from_its_context(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fourtier.models.completion")
    async with completion(tmp_path) as caller:
        # The tool is not offered: the model could not choose it sensibly.
        pieces = await complete(caller, "What does my sister play?", tools=(CLOCK,))
        output = {
            "type": "object",
            "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 99}},
            "required": ["age"],
            "additionalProperties": False,
        }
        written = await complete(caller, "I am 30.", output_schema=output)

    answer = "".join(piece.content for piece in pieces if piece.type == "answer")
    assert "cello" in answer
    assert {piece.type for piece in pieces} == {"answer", "end"}
    assert len(pieces) > 3  # it streams
    assert pieces[-1].model == bundled.NAME
    assert pieces[-1].in_token > 20
    assert 0 < pieces[-1].out_token < 100
    age = json.loads("".join(piece.content for piece in written))["age"]
    assert isinstance(age, int)
    for name in ("bundled", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        assert name in caplog.text


async def test_offered_a_tool_it_makes_a_valid_step(tmp_path: Path) -> None:
    async with completion(tmp_path, dialect="schema") as caller:
        pieces = await complete(caller, "What time is it in Oslo?", tools=(CLOCK,))

    kinds = {piece.type for piece in pieces}
    assert "end" in kinds
    assert kinds & {"answer", "action"}
    for action in (piece for piece in pieces if piece.type == "action"):
        assert action.tool == "clock"
        assert set(action.arguments) == {"zone"}


async def test_a_prompt_that_is_too_long_is_a_clear_error(tmp_path: Path) -> None:
    async with completion(tmp_path, context_window=512) as caller:
        with pytest.raises(CallFailedError, match="exceeds the available context size") as error:
            await complete(caller, "word " * 1_000)
    assert error.value.type == "model-rejected"


async def test_other_programs_are_kept_out_and_it_stops_in_order() -> None:
    async with bundled.bundled_model(512) as server, aiohttp.ClientSession() as session:
        body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
        url, known = f"{server.url}/chat/completions", {"Authorization": f"Bearer {server.key}"}
        async with session.post(url, json=body) as response:
            assert response.status == 401
        async with session.post(url, json=body, headers=known) as response:
            assert response.status == 200
    try:  # another program may have its port by now
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json=body, headers=known) as response,
        ):
            assert response.status != 200
    except aiohttp.ClientConnectionError:
        pass


async def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "_PACKAGE", "llm_that_is_not_installed")
    with pytest.raises(StartupError, match=r"install fourtier\[laptop\]"):
        async with bundled.bundled_model(512):
            pass


async def test_a_broken_file_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    monkeypatch.setattr(bundled, "_model_file", lambda: broken)
    with pytest.raises(StartupError, match=r"broken\.gguf cannot be loaded"):
        async with bundled.bundled_model(512):
            pass
