"""Where spans and measurements go, and the trace context that travels with messages.

Instruments are declared once, at the top of the module that measures, as `CountedMetric` and
`MeasuredMetric`. Until `reporting_to` names providers, what is reported goes to those that the
process has set for itself, by default to none. The trace context travels in the message property
`traceparent` (W3C).
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
from opentelemetry.trace import NoOpTracer, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_NAME = "fourtier"
_PROPAGATOR = TraceContextTextMapPropagator()
#: The message property of the trace context; there is none where its publisher traces nothing.
TRACE_CONTEXT = "traceparent"

Labels = Mapping[str, str | int]


@dataclass
class _Reporting:
    """Where spans and measurements go now; each meter has its own instruments."""

    tracer: Tracer
    meter: Meter
    counters: dict[str, Counter] = field(default_factory=dict)
    histograms: dict[str, Histogram] = field(default_factory=dict)


@cache
def _default() -> _Reporting:
    return _Reporting(trace.get_tracer(_NAME), metrics.get_meter(_NAME))


_named: list[_Reporting] = []


def _now() -> _Reporting:
    return _named[-1] if _named else _default()


@contextmanager
def reporting_to(tracers: TracerProvider, meters: MeterProvider) -> Generator[None]:
    """Report to these providers while the context is open.

    Not by OpenTelemetry's global providers: those can be set once in a process, and what is started
    here can be started again, in tests and in programs that hold a flow.
    """
    _named.append(_Reporting(tracers.get_tracer(_NAME), meters.get_meter(_NAME)))
    try:
        yield
    finally:
        _named.pop()


@dataclass(frozen=True, slots=True)
class CountedMetric:
    """A counter, of the providers that are reported to now."""

    name: str
    description: str
    unit: str = ""

    def add(self, number: int, labels: Labels) -> None:
        """Count."""
        now = _now()
        if (made := now.counters.get(self.name)) is None:
            made = now.meter.create_counter(self.name, self.unit, self.description)
            now.counters[self.name] = made
        made.add(number, labels)


@dataclass(frozen=True, slots=True)
class MeasuredMetric:
    """A histogram, of the providers that are reported to now."""

    name: str
    description: str
    unit: str
    boundaries: Sequence[float]

    def record(self, value: float, labels: Labels) -> None:
        """Measure."""
        now = _now()
        if (made := now.histograms.get(self.name)) is None:
            made = now.meter.create_histogram(
                self.name,
                self.unit,
                self.description,
                explicit_bucket_boundaries_advisory=self.boundaries,
            )
            now.histograms[self.name] = made
        made.record(value, labels)


def tracer() -> Tracer:
    """What begins spans."""
    return _now().tracer


def is_tracing() -> bool:
    """Whether spans go anywhere; describing those that do not would be work for nothing."""
    return not isinstance(_now().tracer, NoOpTracer)


@contextmanager
def step(name: str) -> Generator[None]:
    """One span for a named part of a service's own work."""
    with tracer().start_as_current_span(name):
        yield


def inject(properties: dict[str, str]) -> None:
    """Put the current trace context into the properties of a message."""
    _PROPAGATOR.inject(properties)


def extract(properties: Mapping[str, str]) -> Context:
    """The trace context of the publisher of a message."""
    return _PROPAGATOR.extract(properties)


def trace_id() -> str:
    """The current trace in hexadecimal; empty when nothing is traced."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""
