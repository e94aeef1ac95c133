"""One trace from the client's question to the last write into memory, over a real broker."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from fourtier.client import Client, client_on
from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.process.host import Host, run_services
from fourtier.runtime.settings import Settings
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import Calls, ModelRequest, Reply, Says, ScriptedModel, scripted_model
from tests.support.reporting import Report, reported
from tests.support.waiting import wait_until

#: A statement that becomes a fact, and a task worth an episode.
QUESTION = "My dog is called Rex. Split 1200 dollars among 8 people, then double it."
#: Which service handles which topic in such a run.
DONE = {
    ("agent", "agent.request"),
    ("embeddings", "embeddings.embed"),
    ("facts", "facts.retrieve"),
    ("archive", "archive.search"),
    ("episodes", "episodes.retrieve"),
    ("conversations", "conversations.get"),
    ("working-memory", "working-memory.get"),
    ("completion", "completion.complete"),
    ("working-memory", "working-memory.append"),
    ("working-memory", "working-memory.discard"),
    ("conversations", "invocation.ended"),
    ("archive", "invocation.ended"),
    ("extraction", "invocation.ended"),
    ("facts", "facts.store"),
    ("episodes", "episodes.store"),
}


#: What facts does beside its writes, for users in turn, is in traces of its own.
COMPARISON = "compare facts"


def solve(request: ModelRequest) -> Reply:
    """Divide, double, answer; for every user."""
    done = sum(message["role"] == "tool" for message in request.messages)
    script = [
        Calls("calculator", {"expression": "1200/8"}, thought="divide"),
        Calls("calculator", {"expression": "150*2"}, thought="double"),
        Says("300 dollars each."),
    ]
    return script[done]


@pytest.fixture
def report() -> Generator[Report]:
    with reported() as report:
        yield report


def handled(spans: Sequence[ReadableSpan]) -> dict[tuple[str, str], list[ReadableSpan]]:
    """The spans of handled messages, by service and topic."""
    found: dict[tuple[str, str], list[ReadableSpan]] = {}
    for span in spans:
        about = span.attributes or {}
        if span.name.startswith("process ") and not span.name.startswith("process batch "):
            service = str(about["messaging.consumer.group.name"])
            topic = str(about["messaging.destination.name"])
            found.setdefault((service, topic), []).append(span)
    return found


def is_whole(spans: Sequence[ReadableSpan]) -> bool:
    """Whether all is done, and every span's parent is there."""
    known = {span.context.span_id for span in spans}
    parents = {span.parent.span_id for span in spans if span.parent}
    return set(handled(spans)) >= DONE and parents <= known


def root(spans: Sequence[ReadableSpan]) -> ReadableSpan:
    (found,) = [span for span in spans if span.parent is None]
    return found


def message_id(span: ReadableSpan) -> str:
    return str((span.attributes or {})["messaging.message.id"])


def ancestors(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> list[str]:
    """The names from a span up to the root."""
    by_id = {each.context.span_id: each for each in spans}
    names = [span.name]
    while span.parent is not None:
        span = by_id[span.parent.span_id]
        names.append(span.name)
    return names


@pytest.mark.cluster
async def test_from_the_question_to_the_last_memory_write(report: Report, tmp_path: Path) -> None:
    async with (
        scripted_model(script=solve) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        reply = await client.answer(QUESTION, user="ann", conversation_id="c1")
        await wait_until(lambda: is_whole(report.finished()))

    assert reply.answer == "300 dollars each."
    (trace, spans), *others = report.traces().items()
    assert {root(each).name for _, each in others} <= {COMPARISON}
    assert reply.metadata.trace_id == trace

    assert root(spans).name == "send agent.request"
    by_topic = handled(spans)
    assert set(by_topic) == DONE
    (run,) = by_topic["agent", "agent.request"]
    assert message_id(root(spans)) == message_id(run) == reply.metadata.run_id

    up = ["process agent.request", "send agent.request"]
    in_the_run = ["invoke_agent react_mem", *up]
    learned = ["process invocation.ended", *in_the_run]
    (fact, *_) = by_topic["facts", "facts.store"]
    assert ancestors(fact, spans) == ["process facts.store", *learned]
    (stored,) = by_topic["episodes", "episodes.store"]
    assert ancestors(stored, spans) == ["process episodes.store", *learned]
    assert ancestors(by_topic["conversations", "invocation.ended"][0], spans) == learned
    for asked in ("facts.retrieve", "working-memory.append", "completion.complete"):
        (first, *_) = by_topic[asked.partition(".")[0], asked]
        assert ancestors(first, spans) == [f"process {asked}", f"send {asked}", *in_the_run]
    after_the_answer = [
        span
        for topic in (("facts", "facts.store"), ("episodes", "episodes.store"))
        for span in by_topic[topic]
    ]
    embedded = [ancestors(span, spans) for span in by_topic["embeddings", "embeddings.embed"]]
    for write in after_the_answer:
        assert [
            "process embeddings.embed",
            "send embeddings.embed",
            write.name,
            *learned,
        ] in embedded


async def test_users_at_once_have_a_trace_each(report: Report, tmp_path: Path) -> None:
    users = ["ann", "bob", "cid", "dee"]
    async with (
        scripted_model(script=solve) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        replies = await asyncio.gather(
            *(client.answer(QUESTION, user=user, conversation_id="c1") for user in users)
        )
        traces = {reply.metadata.trace_id: reply.metadata.run_id for reply in replies}
        assert len(traces) == len(users)
        await wait_until(lambda: all(is_whole(report.traces()[trace]) for trace in traces))

    for trace, run in traces.items():
        spans = report.traces()[trace]
        by_topic = handled(spans)
        assert set(by_topic) == DONE
        # What is sent about a run has its id: nothing of another run is here.
        assert {message_id(span) for span in by_topic["agent", "agent.request"]} == {run}
        for topic in (("extraction", "invocation.ended"), ("conversations", "invocation.ended")):
            assert {message_id(span) for span in by_topic[topic]} == {f"{run}/ended"}
        stored = {message_id(span) for span in by_topic["facts", "facts.store"]}
        assert stored
        assert all(each.startswith(f"{run}/fact/") for each in stored)
        assert {message_id(span) for span in by_topic["episodes", "episodes.store"]} == {
            f"{run}/episode"
        }
    for trace in set(report.traces()) - set(traces):
        # What was done in a batch for several traces has a trace of its own, linked to each.
        first = root(report.traces()[trace])
        if first.name == COMPARISON:
            continue
        assert first.name.startswith("process batch ")
        linked = {f"{link.context.trace_id:032x}" for link in first.links}
        assert len(linked) > 1
        assert linked <= set(report.traces())


@asynccontextmanager
async def agent(flow: RunningFlow, model: ScriptedModel, data: Path) -> AsyncGenerator[Host]:
    """A replica of the agent beside the flow."""
    services = Flow(name="agents", services={"agent": {}})
    settings = Settings(data=data, **model.settings)
    async with run_services(flow.bus, host_plan(services, settings)) as host:
        yield host


async def ask(client: Client) -> str:
    return (await client.answer("Where do I live?", user="ann")).metadata.trace_id


@pytest.mark.cluster
async def test_a_run_that_another_replica_ends_stays_in_its_trace(
    report: Report, tmp_path: Path
) -> None:
    others = {name: values for name, values in ROAD.items() if name != "agent"}
    never = asyncio.Event()
    async with (
        scripted_model(Says("In Oslo.", before=never), Says("In Bergen.")) as model,
        running_flow(tmp_path, others, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
        asyncio.TaskGroup() as group,
    ):
        async with agent(flow, model, tmp_path) as host:
            asking = group.create_task(ask(client))
            await wait_until(lambda: len(model.requests) == 1)
            host.stop_at_once()
        never.set()
        async with agent(flow, model, tmp_path):
            trace = await asking
            await wait_until(lambda: "send agent.request" in report.spans())

    spans = handled(report.traces()[trace])["agent", "agent.request"]
    assert f"{report.spans()['send agent.request'].context.trace_id:032x}" == trace
    assert len({span.context.span_id for span in spans}) == 2
    assert len({message_id(span) for span in spans}) == 1
