"""What is reported: one trace through the flow, and every message counted."""

from collections.abc import Generator, Sequence
from typing import Any

import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import NoOpTracerProvider

from fourtier.runtime import telemetry
from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_batch_route, call_route, event_route
from tests.runtime.rpc.support import (
    NOTED,
    QUICK,
    READ,
    WRITE,
    Note,
    Reply,
    dead_letters,
    publish,
    served,
)
from tests.support.reporting import Report, reported
from tests.support.waiting import wait_until


@pytest.fixture
def report() -> Generator[Report]:
    with reported() as report:
        yield report


def parent(span: ReadableSpan) -> int:
    assert span.parent is not None
    return span.parent.span_id


async def test_one_trace_spans_a_question_and_its_consequences(
    report: Report, bus: MemoryBus
) -> None:
    traces: list[str] = []
    async with open_caller(bus) as caller:

        async def write(note: Note) -> Reply:
            traces.append(telemetry.trace_id())
            with telemetry.step("think"):
                await caller.publish(NOTED, note)
            return Reply(number=note.number)

        async def note(_note: Note) -> None:
            traces.append(telemetry.trace_id())

        async with served(bus, call_route(WRITE, write), event_route(NOTED, note)):
            await caller.call(WRITE, Note(key="k", number=1))
            await wait_until(lambda: len(traces) == 2)

    spans = report.spans()
    call, handle = spans["send test.write"], spans["process test.write"]
    think, noted = spans["think"], spans["process test.noted"]
    assert len({span.context.trace_id for span in spans.values()}) == 1
    assert set(traces) == {f"{call.context.trace_id:032x}"}
    assert call.parent is None
    assert parent(handle) == call.context.span_id
    assert parent(think) == handle.context.span_id
    assert parent(noted) == think.context.span_id
    assert dict(handle.attributes or {})["messaging.consumer.group.name"] == "test"


async def test_two_questions_are_two_traces(report: Report, bus: MemoryBus) -> None:

    async def read(note: Note) -> Reply:
        return Reply(number=note.number)

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        for number in range(2):
            await caller.call(READ, Note(key="k", number=number))

    spans = report.exporter.get_finished_spans()
    assert len(spans) == 4
    assert len({span.context.trace_id for span in spans}) == 2


async def handle_in_a_batch(bus: MemoryBus, *traces: int) -> None:
    """Handle notes of these traces as one batch."""

    async def write(notes: Sequence[Note]) -> list[Reply]:
        with telemetry.step("work"):
            return [Reply(number=note.number) for note in notes]

    payload = Note(key="k", number=1).model_dump_json().encode()
    await bus.create_group(Address("test.write"), "test")
    async with bus.subscribe(Address("inbox.me", persistent=False), "me", Mode.EXCLUSIVE) as inbox:
        for number, trace in enumerate(traces):
            properties = {"id": f"note-{number}", "reply-to": "inbox.me"}
            if trace:
                properties["traceparent"] = f"00-{trace:032x}-{number + 1:016x}-01"
            await bus.publish(Address("test.write"), payload, properties=properties)
        async with served(bus, call_batch_route(WRITE, write)):
            answers = [await inbox.receive() for _ in traces]
    sent = [answer.properties["traceparent"].split("-")[1] for answer in answers]
    assert [int(each, 16) for each, trace in zip(sent, traces, strict=True) if trace] == [
        trace for trace in traces if trace
    ]


async def test_each_message_of_a_batch_has_a_span_in_its_own_trace(report: Report) -> None:
    await handle_in_a_batch(MemoryBus(), 1, 2, 0, 1)

    handled = [span for span in report.finished() if span.name == "process test.write"]
    by_id = {(span.attributes or {})["messaging.message.id"]: span for span in handled}
    assert [by_id[f"note-{number}"].context.trace_id for number in (0, 1, 3)] == [1, 2, 1]
    assert [parent(by_id[f"note-{number}"]) for number in (0, 1, 3)] == [1, 2, 4]
    assert by_id["note-2"].parent is None
    assert {(span.attributes or {})["messaging.batch.message_count"] for span in handled} == {4}


async def test_work_for_several_traces_has_a_trace_of_its_own(report: Report) -> None:
    await handle_in_a_batch(MemoryBus(), 1, 2, 2)

    batch, work = report.spans()["process batch test.write"], report.spans()["work"]
    assert batch.parent is None
    assert batch.context.trace_id not in {1, 2}
    assert parent(work) == batch.context.span_id
    assert [link.context.trace_id for link in batch.links] == [1, 2, 2]
    handled = [span for span in report.finished() if span.name == "process test.write"]
    assert [[link.context.span_id for link in span.links] for span in handled] == [
        [batch.context.span_id]
    ] * 3


async def test_work_for_one_trace_is_a_part_of_it(report: Report) -> None:
    await handle_in_a_batch(MemoryBus(), 7, 7)

    assert set(report.traces()) == {f"{7:032x}"}
    handled = [span for span in report.finished() if span.name == "process test.write"]
    assert parent(report.spans()["work"]) in {span.context.span_id for span in handled}


async def test_a_batch_that_fails_leaves_no_span_open(report: Report, bus: MemoryBus) -> None:
    tried: list[int] = []

    async def write(notes: Sequence[Note]) -> list[Reply]:
        tried.append(len(notes))
        if len(notes) > 1:
            raise ConnectionResetError("again, please")
        return [Reply()]

    await bus.create_group(Address("test.write"), "test")
    await publish(bus, WRITE.topic, "a", 1)
    await publish(bus, WRITE.topic, "b", 1)
    async with served(bus, call_batch_route(WRITE, write)):
        await wait_until(lambda: len(tried) == 3)

    handled = [span for span in report.finished() if span.name == "process test.write"]
    failed = [span.status.is_ok for span in handled]
    assert failed == [False, False, True, True]
    assert telemetry.trace_id() == ""


async def _ignore(_note: Note) -> None:
    """Do nothing."""


@pytest.mark.parametrize("trace", ["", "nonsense", "00-0-0-01", "\u00ff" * 100])
async def test_an_invalid_trace_context_is_ignored(
    report: Report, trace: str, bus: MemoryBus
) -> None:
    payload = Note(key="k", number=1).model_dump_json().encode()
    async with served(bus, event_route(NOTED, _ignore)):
        await bus.publish(Address("test.noted"), payload, properties={"traceparent": trace})
        await wait_until(lambda: "process test.noted" in report.spans())
    assert report.spans()["process test.noted"].parent is None


async def test_every_message_is_counted_once(report: Report, bus: MemoryBus) -> None:
    tried = 0

    async def write(note: Note) -> Reply:
        nonlocal tried
        tried += 1
        if note.number == 13:
            raise ValueError("thirteen")
        if note.number == 7 and tried % 2:
            raise ConnectionResetError("again, please")
        return Reply(number=note.number)

    async def read(note: Note) -> Reply:
        return Reply(number=note.number)

    async with (
        served(bus, call_route(WRITE, write, retry=QUICK), call_route(READ, read)),
        open_caller(bus) as caller,
    ):
        tried = 0
        for number in (7, 1, 2):
            await caller.call(WRITE, Note(key="k", number=number))
        with pytest.raises(CallFailedError):
            await caller.call(WRITE, Note(key="k", number=13))
        await bus.publish(Address("test.write"), b"{", key="k")
        await dead_letters(bus, 2)
        await bus.publish(
            Address("test.read", persistent=False), b"{}", properties={"timeout-ms": "0"}
        )
        await bus.publish(Address("test.read", persistent=False), b"{")
        await caller.call(READ, Note(key="k", number=1))

    assert report.counts("messaging.client.consumed.messages") == {"test.write": 5, "test.read": 3}
    assert processed(report, "test.write") == {"": 3, "ValueError": 1, "malformed": 1}
    assert processed(report, "test.read") == {"": 1, "malformed": 1}
    assert report.counts("fourtier.messages.retried") == {"test.write": 3}
    assert report.counts("fourtier.messages.dead_lettered") == {"test.write": 2}
    assert report.counts("fourtier.messages.expired") == {"test.read": 1}
    waited = report.points("fourtier.messages.queue_age")
    assert {topic(point): point.count for point in waited}["test.write"] == 5


async def test_batches_are_measured_where_messages_are_handled_in_batches(
    report: Report, bus: MemoryBus
) -> None:
    async with open_caller(bus) as caller, served(bus, call_route(READ, _answer)):
        await handle_in_a_batch(bus, 1, 2, 3)
        await caller.call(READ, Note(key="k", number=1))

    measured = report.points("fourtier.messages.batch_size")
    assert {topic(point): (point.count, point.sum) for point in measured} == {"test.write": (1, 3)}


async def _answer(note: Note) -> Reply:
    return Reply(number=note.number)


def topic(point: Any) -> str:
    return str(point.attributes["messaging.destination.name"])


def processed(report: Report, name: str) -> dict[str, int]:
    """How many messages of a topic were processed, by type of error; empty where there is none."""
    return {
        str(point.attributes.get("error.type", "")): int(point.count)
        for point in report.points("messaging.process.duration")
        if topic(point) == name
    }


async def test_without_a_report_nothing_is_traced(bus: MemoryBus) -> None:
    traces: list[str] = []

    async def read(_note: Note) -> Reply:
        traces.append(telemetry.trace_id())
        return Reply()

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        await caller.call(READ, Note(key="k", number=1))

    assert traces == [""]


async def test_a_process_that_exports_no_spans_passes_the_trace_of_others_on() -> None:
    with telemetry.reporting_to(NoOpTracerProvider(), NoOpMeterProvider()):
        await handle_in_a_batch(MemoryBus(), 1, 2)
