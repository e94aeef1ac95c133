"""The service on the bus, with a scripted model behind it."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.models.completion.budget import DayBudget
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
from tests.support.model import Calls, Cuts, Fails, Says, ScriptedModel, Writes, scripted_model
from tests.support.waiting import wait_until

CALCULATOR = ToolSpec(
    name="calculator",
    description="Compute.",
    parameters={"type": "object", "properties": {"expression": {"type": "string"}}},
)
QUESTION = (ChatMessage(role="user", content="What is 1+1?"),)
DIALECTS = ["tools", "schema"]


@pytest.fixture
def one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Midnight may come while a test runs, and a new day begins with no tokens used."""
    now = datetime.now(UTC)
    opened = DayBudget.open
    monkeypatch.setattr(DayBudget, "open", lambda file, cap: opened(file, cap, now=lambda: now))


@pytest.fixture
async def model() -> AsyncGenerator[ScriptedModel]:
    async with scripted_model() as scripted:
        yield scripted


async def complete(caller: Caller, **more: Any) -> list[CompletionPiece]:
    request = CompleteRequest(messages=QUESTION, **more)
    return [piece async for piece in caller.stream(COMPLETE, request)]


def text(pieces: list[CompletionPiece], kind: str) -> str:
    return "".join(piece.content for piece in pieces if piece.type == kind)


async def test_who_does_not_read_along_gets_few_pieces(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.then(Says("It is two. " * 20, thought="I know it. " * 20))
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
        pieces = await complete(flow.caller, streaming=False)
    assert [each.type for each in pieces] == ["thought", "answer", "end"]
    assert text(pieces, "answer") == "It is two. " * 20


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_both_dialects_say_the_same(
    tmp_path: Path, model: ScriptedModel, dialect: str
) -> None:
    model.then(
        Calls("calculator", {"expression": "1+1"}, thought="I must add."),
        Says("It is 2.", thought="I know it."),
        Writes({"sum": 2}),
    )
    services = {"completion": {"dialect": dialect}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        acting = await complete(flow.caller, tools=(CALCULATOR,))
        answering = await complete(flow.caller)
        output = await complete(flow.caller, output_schema={"type": "object"})

    assert text(acting, "thought") == "I must add."
    assert text(acting, "answer") == ""
    assert [(each.tool, each.arguments) for each in acting if each.type == "action"] == [
        ("calculator", {"expression": "1+1"})
    ]
    assert text(answering, "thought") == "I know it."
    assert text(answering, "answer") == "It is 2."
    assert text(output, "answer") == '{"sum": 2}'
    for pieces in (acting, answering, output):
        assert pieces[-1] == CompletionPiece(type="end", in_token=10, out_token=5, model="scripted")
        assert [piece.type for piece in pieces].count("end") == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_streams_through_the_bus(
    tmp_path: Path, model: ScriptedModel, dialect: str
) -> None:
    gate = asyncio.Event()
    model.then(Says("One two three.", thought="First", between=gate))
    services = {"completion": {"dialect": dialect}}
    async with running_flow(tmp_path, services, bus="embedded", settings=model.settings) as flow:
        pieces = flow.caller.stream(COMPLETE, CompleteRequest(messages=QUESTION))
        if dialect == "tools":  # in JSON the first piece has no text yet
            assert (await anext(pieces)).content == "First"
        gate.set()
        rest = [piece async for piece in pieces]
    assert text(rest, "answer") == "One two three."


async def test_sampling_comes_from_the_request_and_then_from_the_flow(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.then("A", "B")
    services = {"completion": {"max-tokens": 50, "temperature": 0.5}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        await complete(flow.caller)
        await complete(flow.caller, max_tokens=7, temperature=0.0)

    sampled = [(each.json["max_tokens"], each.json["temperature"]) for each in model.requests]
    assert sampled == [(50, 0.5), (7, 0.0)]


async def test_a_busy_model_is_asked_again(tmp_path: Path, model: ScriptedModel) -> None:
    model.then(Fails(429, headers={"Retry-After": "0"}), "It is 2.")
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
        assert text(await complete(flow.caller), "answer") == "It is 2."


@pytest.mark.parametrize(
    ("reply", "error_type"),
    [
        (Fails(503), "model-busy"),
        (Fails(401, "wrong key sk-secret"), "model-rejected"),
        (Cuts("It is"), "model-cut-off"),
        (Cuts(), "model-unreachable"),
        (Says(""), "model-malformed"),
    ],
)
async def test_the_caller_reads_what_went_wrong(
    tmp_path: Path, model: ScriptedModel, reply: Any, error_type: str
) -> None:
    model.then(reply)
    services = {"completion": {"attempts": 1}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        with pytest.raises(CallFailedError) as error:
            await complete(flow.caller)
    assert error.value.type == error_type
    assert error.value.temporary is (error_type in {"model-busy", "model-unreachable"})
    assert "sk-secret" not in str(error.value)


@pytest.mark.usefixtures("one_day")
async def test_the_budget_stops_also_after_a_restart(tmp_path: Path, model: ScriptedModel) -> None:
    model.then("A", "B", "C")
    services = {"completion": {"tokens-per-day": 20}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        await complete(flow.caller)
        await complete(flow.caller)  # 15 of 20 are used when it begins
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        with pytest.raises(CallFailedError, match=r"20 tokens a day.*has used 30") as error:
            await complete(flow.caller)
    assert error.value.type == "budget"
    assert len(model.requests) == 2


@pytest.mark.parametrize("usage", [None, (0, 0)])
async def test_without_counts_tokens_are_estimated(
    tmp_path: Path, model: ScriptedModel, usage: tuple[int, int] | None
) -> None:
    model.usage = usage
    model.then("It is 2, as everybody knows.")
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
        end = (await complete(flow.caller))[-1]
    assert 5 <= end.out_token <= 12
    assert end.in_token > 5


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_that_breaks_off_behind_whole_json_is_read(
    tmp_path: Path, model: ScriptedModel, dialect: str
) -> None:
    model.then(Cuts('{"sum": 2}'), Cuts('{"sum": '))
    services = {"completion": {"dialect": dialect}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        output = await complete(flow.caller, output_schema={"type": "object"})
        with pytest.raises(CallFailedError) as error:
            await complete(flow.caller, output_schema={"type": "object"})
    assert text(output, "answer") == '{"sum": 2}'
    assert error.value.type == "model-cut-off"


@pytest.mark.usefixtures("one_day")
async def test_a_reply_that_breaks_off_is_counted(tmp_path: Path, model: ScriptedModel) -> None:
    model.then(Cuts("It is 2, as everybody knows."), "B")
    services = {"completion": {"tokens-per-day": 5}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        for error_type in ("model-cut-off", "budget"):
            with pytest.raises(CallFailedError) as error:
                await complete(flow.caller)
            assert error.value.type == error_type


async def test_a_reply_without_an_end_is_stopped(tmp_path: Path, model: ScriptedModel) -> None:
    model.then(Says(" ".join(["x" * 90_000] * 3)))
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
        with pytest.raises(CallFailedError, match="more than 200000 characters") as error:
            await complete(flow.caller)
    assert error.value.type == "model-cut-off"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"messages": QUESTION * 1_001}, "messages: .*1000 items"),
        (
            {"messages": (ChatMessage.model_construct(role="user", content="x" * 1_000_001),)},
            "0.content",
        ),
        ({"tools": (CALCULATOR,) * 1_001}, "tools: .*1000 items"),
        ({"max_tokens": 10**9}, "max_tokens"),
    ],
)
async def test_a_request_beyond_a_limit_is_malformed(
    tmp_path: Path, model: ScriptedModel, more: dict[str, Any], words: str
) -> None:
    request = CompleteRequest.model_construct(**{"messages": QUESTION} | more)
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow:
        flow.bus.local = None  # what is handed over within a process is not read again
        with pytest.raises(CallFailedError, match=words) as error:
            async for _ in flow.caller.stream(COMPLETE, request):
                pass
    assert error.value.type == "malformed"
    assert model.requests == []


async def test_completions_run_concurrently_up_to_the_limit(
    tmp_path: Path, model: ScriptedModel
) -> None:
    gate = asyncio.Event()
    model.then(*[Says("A", before=gate)] * 3)
    services = {"completion": {"max-concurrency": 2}}
    async with running_flow(tmp_path, services, settings=model.settings) as flow:
        asking = [asyncio.create_task(complete(flow.caller)) for _ in range(3)]
        await wait_until(lambda: len(model.requests) == 2)
        gate.set()
        for pieces in await asyncio.gather(*asking):
            assert text(pieces, "answer") == "A"
    assert len(model.requests) == 3


async def test_the_start_says_which_model_answers(
    tmp_path: Path, model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fourtier.models.completion")
    async with running_flow(tmp_path, {"completion": {}}, settings=model.settings):
        pass
    assert f"the model scripted at {model.url}, by tool calls." in caplog.text
    assert "sk-secret" not in caplog.text


async def test_a_wrong_url_stops_the_start(tmp_path: Path) -> None:
    settings = {"model_url": "nowhere", "model_name": "m"}
    with pytest.raises(StartupError, match="OPENAI_BASE_URL"):
        async with running_flow(tmp_path, {"completion": {}}, settings=settings):
            pass
