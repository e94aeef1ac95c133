"""Where telemetry goes: the registry of Prometheus, and a collector of OTLP."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client import CollectorRegistry, generate_latest

from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.telemetry_setup import telemetry_to
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route
from tests.runtime.rpc.support import READ, Note, Reply, listening, served


class Collector:
    """What a collector was sent."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.traces = ExportTraceServiceRequest()
        self.metrics = ExportMetricsServiceRequest()

    async def take_traces(self, request: web.Request) -> web.Response:
        self.traces.MergeFrom(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response()

    async def take_metrics(self, request: web.Request) -> web.Response:
        self.metrics.MergeFrom(ExportMetricsServiceRequest.FromString(await request.read()))
        return web.Response()


@asynccontextmanager
async def collecting() -> AsyncGenerator[Collector]:
    """Run a collector on loopback."""
    collector = Collector()
    app = web.Application()
    app.add_routes(
        [
            web.post("/v1/traces", collector.take_traces),
            web.post("/v1/metrics", collector.take_metrics),
        ]
    )
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        collector.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield collector
    finally:
        await runner.cleanup()


async def ask_once() -> None:
    """Handle one message."""
    bus = MemoryBus()

    async def read(note: Note) -> Reply:
        return Reply(number=note.number)

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        await caller.call(READ, Note(key="k", number=1))


LABELS = {
    "messaging_system": "pulsar",
    "messaging_operation_name": "process",
    "messaging_destination_name": "test.read",
    "messaging_consumer_group_name": "test",
}


def handled(registry: CollectorRegistry) -> float | None:
    return registry.get_sample_value("messaging_process_duration_seconds_count", LABELS)


async def test_prometheus_shows_the_metrics_by_stable_names() -> None:
    async with telemetry_to(None, "laptop", ("facts", "agent")) as registry:
        await ask_once()
        text = generate_latest(registry).decode()

    labels = "{" + ",".join(f'{name}="{value}"' for name, value in sorted(LABELS.items())) + "}"
    assert f"messaging_client_consumed_messages_total{labels} 1.0" in text
    assert f"messaging_process_duration_seconds_count{labels} 1.0" in text
    assert f"fourtier_messages_queue_age_seconds_count{labels} 1.0" in text
    assert 'messaging_process_duration_seconds_bucket{le="0.0025",messaging_consumer' in text
    assert 'service_namespace="laptop"' in text


async def test_it_can_be_set_up_twice_in_a_process() -> None:
    async with telemetry_to(None, "laptop") as first:
        await ask_once()
        assert handled(first) == 1
    async with telemetry_to(None, "laptop") as second:
        assert handled(second) is None
        await ask_once()
        await ask_once()
        assert handled(second) == 2
    await ask_once()


async def test_a_collector_gets_traces_and_metrics_before_the_end() -> None:
    async with (
        collecting() as collector,
        telemetry_to(f"{collector.endpoint}/", "laptop", ("facts",)),
    ):
        await ask_once()

    (traces,) = collector.traces.resource_spans
    resource = {item.key: item.value.string_value for item in traces.resource.attributes}
    assert resource["service.name"] == "fourtier-facts"
    assert resource["service.namespace"] == "laptop"
    spans = {span.name: span for scope in traces.scope_spans for span in scope.spans}
    assert spans["process test.read"].trace_id == spans["send test.read"].trace_id
    (metrics,) = collector.metrics.resource_metrics
    names = {metric.name for scope in metrics.scope_metrics for metric in scope.metrics}
    assert "messaging.process.duration" in names


@pytest.mark.parametrize("hangs", [False, True])
async def test_an_unavailable_collector_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, hangs: bool
) -> None:
    monkeypatch.setattr("fourtier.runtime.process.telemetry_setup._TIMEOUT", 0.2)

    async def no_answer(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with (
        listening(no_answer) as address,
        telemetry_to(f"http://{address if hangs else '127.0.0.1:1'}", "laptop"),
    ):
        await ask_once()

    for what in ("metrics", "spans"):
        assert f"Failed to export {what} batch due to timeout" in caplog.text


async def test_an_invalid_endpoint_is_one_line() -> None:
    with pytest.raises(StartupError, match="FOURTIER_OTLP_ENDPOINT"):
        async with telemetry_to("collector:4318", "laptop"):
            pass
