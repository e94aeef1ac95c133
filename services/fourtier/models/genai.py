"""Spans and durations of models, agents and tools, after OpenTelemetry's conventions.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ names the spans (`chat {model}`,
`embeddings {model}`, `invoke_agent {agent}`, `execute_tool {tool}`), the attributes `gen_ai.*` and
the metric `gen_ai.client.operation.duration`. What a user or a model writes is never put into a
span: attributes are names and numbers, and of an error only its type.
"""

import asyncio
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from fourtier.runtime import telemetry
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.telemetry import MeasuredMetric

OPERATION_DURATION = MeasuredMetric(
    "gen_ai.client.operation.duration",
    "time of one operation of a model; failed ones have an error.type",
    "s",
    (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
)

#: Values that the conventions allow for the attributes that are used here.
Attributes = Mapping[str, str | int]


class Operation:
    """One operation while it runs.

    Attributes:
        labels: the attributes that the span and the metrics share.
    """

    def __init__(self, span: Span, labels: Attributes) -> None:
        self._span = span
        self.labels = dict(labels)

    def label(self, labels: Attributes) -> None:
        """Add attributes to the span and to the metrics; of few different values."""
        self.labels |= labels
        self.describe(labels)

    def describe(self, attributes: Attributes) -> None:
        """Add attributes to the span alone."""
        self._span.set_attributes(dict(attributes))

    def fail(self, error_type: str) -> None:
        """Note that the operation failed, without the error's text."""
        self.label({"error.type": error_type})
        self._span.set_status(Status(StatusCode.ERROR))


@contextmanager
def model_operation(name: str, model: str, labels: Attributes) -> Generator[Operation]:
    """One request to a model: a client span and its duration.

    The span is not the current one, because a stream yields while it is open.

    Args:
        name: `chat` or `embeddings`.
        model: the name by which the model is asked.
        labels: further attributes of the span and of the metrics.
    """
    labels = {"gen_ai.operation.name": name, "gen_ai.request.model": model, **labels}
    span = _start(f"{name} {model}", SpanKind.CLIENT, labels)
    operation = Operation(span, labels)
    started = time.perf_counter()
    try:
        with _ended(operation, span):
            yield operation
    finally:
        OPERATION_DURATION.record(time.perf_counter() - started, operation.labels)


@contextmanager
def agent_operation(name: str, subject: str, attributes: Attributes) -> Generator[Operation]:
    """One run of an agent or of a tool: the current span of what happens in it.

    Args:
        name: `invoke_agent` or `execute_tool`.
        subject: the agent's or the tool's name.
        attributes: further attributes of the span.
    """
    labels = {"gen_ai.operation.name": name, **attributes}
    span = _start(f"{name} {subject}", SpanKind.INTERNAL, labels)
    operation = Operation(span, labels)
    with (
        _ended(operation, span),
        trace.use_span(span, record_exception=False, set_status_on_exception=False),
    ):
        yield operation


def _start(name: str, kind: SpanKind, attributes: Attributes) -> Span:
    return telemetry.tracer().start_span(name, kind=kind, attributes=dict(attributes))


@contextmanager
def _ended(operation: Operation, span: Span) -> Generator[None]:
    """End the span with the type of what was raised, if anything was."""
    try:
        yield
    except BaseException as error:
        operation.fail(error_type(error))
        raise
    finally:
        span.end()


def error_type(error: BaseException) -> str:
    """The stable name of an error; `cancelled` where the caller has left."""
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return "cancelled"
    return error.type if isinstance(error, FourtierError) else type(error).__name__
