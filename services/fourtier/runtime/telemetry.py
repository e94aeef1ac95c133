"""All spans and instruments of the runtime, declared once, with OpenTelemetry.

The trace context travels in the message property `traceparent` (W3C). Without a configured exporter
everything here is a no-op of the API.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry import metrics, propagate, trace
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode

from fourtier.runtime.bus.contract import Delivery

_tracer = trace.get_tracer("fourtier")
_meter = metrics.get_meter("fourtier")

#: From a read out of memory to a run with a slow model.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

_handled = _meter.create_counter(
    "fourtier.messages.handled", description="messages handled and acknowledged"
)
_failed = _meter.create_counter(
    "fourtier.messages.failed", description="messages given up, answered with an error or buried"
)
_retried = _meter.create_counter(
    "fourtier.messages.retried", description="attempts that failed and were tried again"
)
_dead = _meter.create_counter(
    "fourtier.messages.dead_lettered", description="messages put into the dead letters"
)
_expired = _meter.create_counter(
    "fourtier.messages.expired",
    description="reads dropped because their caller had stopped waiting",
)
_duration = _meter.create_histogram(
    "fourtier.messages.duration",
    unit="s",
    description="time from taking a message to its end",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
_age = _meter.create_histogram(
    "fourtier.messages.queue_age",
    unit="s",
    description="age of a message when it was taken",
    explicit_bucket_boundaries_advisory=_SECONDS,
)
_batch = _meter.create_histogram(
    "fourtier.messages.batch_size",
    unit="{message}",
    description="messages handled together",
    explicit_bucket_boundaries_advisory=(1, 2, 4, 8, 16, 32, 64),
)
_left_out = _meter.create_counter(
    "fourtier.agent.tiers_left_out", description="tiers that were down or late for a run's context"
)

_model_tokens = _meter.create_counter(
    "fourtier.completion.tokens", unit="{token}", description="tokens that models were paid for"
)


@dataclass
class HandlingSpan:
    """What the serving loop reports while it handles a message."""

    span: Span
    labels: dict[str, str]
    failed: bool = False
    left: bool = False

    def retry(self, error: Exception) -> None:
        """Note an attempt that will be repeated."""
        self.span.record_exception(error)
        _retried.add(1, self.labels)

    def fail(self, error: Exception) -> None:
        """Note that the message was given up."""
        self.failed = True
        self.span.record_exception(error)
        self.span.set_status(Status(StatusCode.ERROR, str(error)))

    def leave(self) -> None:
        """Note that the message was not finished and comes again."""
        self.left = True


@contextmanager
def handling(service: str, topic: str, deliveries: Sequence[Delivery]) -> Generator[HandlingSpan]:
    """One span for a handled message, child of its publisher's; a batch links to each publisher."""
    labels = {"service": service, "topic": topic}
    contexts = [propagate.extract(dict(delivery.properties)) for delivery in deliveries]
    links = [Link(trace.get_current_span(context).get_span_context()) for context in contexts]
    with _tracer.start_as_current_span(
        f"{topic} handle",
        context=contexts[0],
        kind=SpanKind.CONSUMER,
        links=links if len(links) > 1 else None,
        attributes={
            "messaging.system": "pulsar",
            "messaging.destination.name": topic,
            "messaging.batch.message_count": len(deliveries),
            "fourtier.service": service,
        },
    ) as span:
        started = time.perf_counter()
        handled = HandlingSpan(span, labels)
        yield handled
        if not handled.left:
            _duration.record(time.perf_counter() - started, labels)
            (_failed if handled.failed else _handled).add(len(deliveries), labels)


@contextmanager
def calling(topic: str) -> Generator[None]:
    """One span for sending a question and waiting for its first answer."""
    with _tracer.start_as_current_span(
        f"{topic} call", kind=SpanKind.CLIENT, attributes={"messaging.destination.name": topic}
    ):
        yield


@contextmanager
def step(name: str) -> Generator[None]:
    """One span for a named part of a service's own work."""
    with _tracer.start_as_current_span(name):
        yield


def inject(properties: dict[str, str]) -> None:
    """Put the current trace context into the properties of a message."""
    propagate.inject(properties)


def trace_id() -> str:
    """The current trace in hexadecimal; empty when nothing is traced."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def count_taken(service: str, topic: str, deliveries: Sequence[Delivery]) -> None:
    """Count messages that were taken together: how many, and how long each had waited."""
    labels = {"service": service, "topic": topic}
    now = time.time()
    for delivery in deliveries:
        _age.record(max(0.0, now - delivery.published_at), labels)
    _batch.record(len(deliveries), labels)


def count_expired(service: str, topic: str) -> None:
    """Count a read that nobody waits for any more."""
    _expired.add(1, {"service": service, "topic": topic})


def count_dead_letter(service: str, topic: str) -> None:
    """Count a message that was put into the dead letters."""
    _dead.add(1, {"service": service, "topic": topic})


def count_left_out(tier: str) -> None:
    """Count a tier that a run had to do without."""
    _left_out.add(1, {"tier": tier})


def count_model_tokens(model: str, prompt: int, completion: int) -> None:
    """Count the tokens of one completion."""
    _model_tokens.add(prompt, {"model": model, "kind": "prompt"})
    _model_tokens.add(completion, {"model": model, "kind": "completion"})
