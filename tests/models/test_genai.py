"""Spans and metrics of models, agents and tools, after OpenTelemetry's conventions."""

import asyncio
from collections.abc import Generator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from fourtier.models.embeddings import bundled
from fourtier.runtime.errors import CallFailedError
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest
from fourtier.schema.embeddings import EMBED, EmbedRequest
from tests.agents.react_mem.test_agent import agent
from tests.support.flow import running_flow
from tests.support.model import Calls, Fails, Reply, Says, scripted_model
from tests.support.reporting import Report, reported
from tests.support.waiting import wait_until

CONTENT = "zqconv77x"
REQUEST = CompleteRequest(messages=(ChatMessage(role="user", content=f"My word is {CONTENT}"),))
CHAT = "chat scripted"
DURATION, TOKENS = "gen_ai.client.operation.duration", "gen_ai.client.token.usage"


@pytest.fixture
def report() -> Generator[Report]:
    with reported() as report:
        yield report


def assert_without_contents(report: Report) -> None:
    for span in report.finished():
        assert CONTENT not in span.to_json()


async def complete(data: Path, *replies: Reply) -> None:
    async with (
        scripted_model(*replies) as model,
        running_flow(data, {"completion": {"attempts": 1}}, settings=model.settings) as flow,
    ):
        async for _ in flow.caller.stream(COMPLETE, REQUEST):
            pass


async def test_a_completion_has_a_client_span_and_metrics(tmp_path: Path, report: Report) -> None:
    await complete(tmp_path, Says(f"You said {CONTENT}."))

    span = report.spans()[CHAT]
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    attributes = dict(span.attributes or {})
    assert attributes.pop("server.port", 0)
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "server.address": "127.0.0.1",
    }
    (duration,) = report.points(DURATION)
    assert duration.count == 1
    assert duration.attributes["gen_ai.operation.name"] == "chat"
    assert duration.attributes["gen_ai.response.model"] == "scripted"
    assert "error.type" not in duration.attributes
    tokens = {point.attributes["gen_ai.token.type"]: point.sum for point in report.points(TOKENS)}
    assert tokens == {"input": 10, "output": 5}
    assert_without_contents(report)


async def test_a_failed_completion_has_an_error_type(tmp_path: Path, report: Report) -> None:
    with pytest.raises(CallFailedError):
        await complete(tmp_path, Fails(401, f"wrong: {CONTENT}"))

    span = report.spans()[CHAT]
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "model-rejected"
    assert CONTENT not in span.to_json()
    (duration,) = report.points(DURATION)
    assert duration.attributes["error.type"] == "model-rejected"


async def test_a_cancelled_completion_is_measured_too(tmp_path: Path, report: Report) -> None:
    never = asyncio.Event()
    script = Says("Once upon a time", between=never)
    async with (
        scripted_model(script) as model,
        running_flow(tmp_path, {"completion": {}}, settings=model.settings) as flow,
    ):
        async with aclosing(flow.caller.stream(COMPLETE, REQUEST)) as pieces:
            await anext(pieces)
        await wait_until(lambda: CHAT in report.spans())
    attributes = report.spans()[CHAT].attributes or {}
    assert attributes["error.type"] == "cancelled"
    output: Any = attributes["gen_ai.usage.output_tokens"]
    assert output > 0


async def test_embeddings_have_a_span_and_a_duration(tmp_path: Path, report: Report) -> None:
    async with running_flow(tmp_path, {"embeddings": {}}) as flow:
        await flow.caller.call(EMBED, EmbedRequest(texts=(CONTENT,)))

    span = report.spans()[f"embeddings {bundled.NAME}"]
    assert span.kind is SpanKind.CLIENT
    assert (span.attributes or {})["gen_ai.operation.name"] == "embeddings"
    assert (span.attributes or {})["gen_ai.request.model"] == bundled.NAME
    (duration,) = report.points(DURATION)
    assert duration.attributes["gen_ai.operation.name"] == "embeddings"
    assert_without_contents(report)


async def test_a_run_and_its_tools_have_spans_in_one_trace(tmp_path: Path, report: Report) -> None:
    script = (
        Calls("calculator", {"expression": "6*7"}, thought=CONTENT),
        Calls("fly", {"to": CONTENT}),
        Calls("calculator", {"expression": CONTENT}),
        Says(f"It is 42, {CONTENT}."),
    )
    async with agent(tmp_path, *script) as (_, client, _model):
        await client.answer(f"What is it, {CONTENT}?", user="ann", conversation_id="c1")

    run = report.spans()["invoke_agent react_mem"]
    assert dict(run.attributes or {}) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "react_mem",
        "gen_ai.conversation.id": "c1",
        "gen_ai.response.model": "scripted",
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 20,
    }
    tools = [span for span in report.finished() if span.name.startswith("execute_tool")]
    assert [span.name for span in tools] == ["execute_tool calculator"] * 2
    assert [(span.attributes or {}).get("gen_ai.tool.name") for span in tools] == ["calculator"] * 2
    assert [(span.attributes or {}).get("error.type") for span in tools] == [None, "ToolError"]
    parents = {span.parent.span_id for span in tools if span.parent}
    assert parents == {run.context.span_id}
    chats = [span for span in report.finished() if span.name == CHAT]
    assert {span.context.trace_id for span in chats} == {run.context.trace_id}
    assert_without_contents(report)


async def test_a_failed_run_has_an_error_type(tmp_path: Path, report: Report) -> None:
    async with agent(tmp_path, Fails(401)) as (_, client, _model):
        await client.answer("Hello?", user="ann")
    assert (report.spans()["invoke_agent react_mem"].attributes or {})[
        "error.type"
    ] == "model-rejected"
