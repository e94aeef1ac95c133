"""What was reported, in memory: spans and metrics."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fourtier.runtime import telemetry


class Report:
    """What was reported so far."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()

    def finished(self) -> tuple[ReadableSpan, ...]:
        """All spans that have ended, in this order."""
        return self.exporter.get_finished_spans()

    def spans(self) -> dict[str, ReadableSpan]:
        """Spans by name, the last of each."""
        return {span.name: span for span in self.finished()}

    def traces(self) -> dict[str, list[ReadableSpan]]:
        """Spans by the trace that they are in, in hexadecimal."""
        traces: dict[str, list[ReadableSpan]] = {}
        for span in self.finished():
            traces.setdefault(f"{span.context.trace_id:032x}", []).append(span)
        return traces

    def points(self, metric: str) -> list[Any]:
        """What was measured under a name."""
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for found in scope.metrics
            if found.name == metric
            for point in found.data.data_points
        ]

    def counts(self, metric: str) -> dict[str, float]:
        """The values of a counter by topic."""
        return {
            point.attributes["messaging.destination.name"]: point.value
            for point in self.points(metric)
        }


@contextmanager
def reported() -> Generator[Report]:
    """Report into memory while the context is open."""
    report = Report()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(report.exporter))
    meters = MeterProvider([report.reader])
    with telemetry.reporting_to(tracers, meters):
        yield report
    tracers.shutdown()
    meters.shutdown()
