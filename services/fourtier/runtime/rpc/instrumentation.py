"""All spans and instruments of the runtime, declared once, with OpenTelemetry.

The trace context travels in the message property `traceparent` (W3C). Until `reporting_to` names
providers, what is reported goes to those that the process has set for itself, by default to none.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Meter, MeterProvider
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.rpc import envelope

_NAME = "fourtier"
_PROPAGATOR = TraceContextTextMapPropagator()

#: From a read out of memory to a run with a slow model.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class _Instruments:
    """Every metric. The names are part of what is promised: dashboards are built on them."""

    def __init__(self, meter: Meter) -> None:
        self.handled = meter.create_counter(
            "fourtier.messages.handled", description="messages handled and acknowledged"
        )
        self.failed = meter.create_counter(
            "fourtier.messages.failed",
            description="messages given up, answered with an error or buried",
        )
        self.retried = meter.create_counter(
            "fourtier.messages.retried", description="attempts that failed and were tried again"
        )
        self.dead = meter.create_counter(
            "fourtier.messages.dead_lettered", description="messages put into the dead letters"
        )
        self.expired = meter.create_counter(
            "fourtier.messages.expired",
            description="reads dropped because their caller had stopped waiting",
        )
        self.refused = meter.create_counter(
            "fourtier.messages.refused",
            description="messages not taken on because too many were in hand",
        )
        self.duration = meter.create_histogram(
            "fourtier.messages.duration",
            unit="s",
            description="time from taking a message to its end",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self.age = meter.create_histogram(
            "fourtier.messages.queue_age",
            unit="s",
            description="age of a message when it was taken",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self.batch = meter.create_histogram(
            "fourtier.messages.batch_size",
            unit="{message}",
            description="messages taken together",
            explicit_bucket_boundaries_advisory=(1, 2, 4, 8, 16, 32, 64),
        )
        self.left_out = meter.create_counter(
            "fourtier.agent.tiers_left_out",
            description="tiers that were down or late for a run's context",
        )
        self.model_tokens = meter.create_counter(
            "fourtier.completion.tokens",
            unit="{token}",
            description="tokens that models were paid for",
        )


@dataclass
class _Reporting:
    """Where spans and measurements go now."""

    tracer: Tracer
    instruments: _Instruments


_now = _Reporting(trace.get_tracer(_NAME), _Instruments(metrics.get_meter(_NAME)))


@contextmanager
def reporting_to(tracers: TracerProvider, meters: MeterProvider) -> Generator[None]:
    """Report to these providers while the context is open.

    Not by OpenTelemetry's global providers: those can be set once in a process, and what is started
    here can be started again, in tests and in programs that hold a flow.
    """
    before = _now.tracer, _now.instruments
    _now.tracer = tracers.get_tracer(_NAME)
    _now.instruments = _Instruments(meters.get_meter(_NAME))
    try:
        yield
    finally:
        _now.tracer, _now.instruments = before


@dataclass
class HandlingSpan:
    """What the serving loop reports while it handles messages: a span for each of them."""

    spans: Sequence[Span]
    labels: dict[str, str]
    failed: bool = False
    left: bool = False

    @contextmanager
    def answering(self, place: int) -> Generator[None]:
        """Answer the message at this place of the batch, in its own trace."""
        with trace.use_span(self.spans[place]):
            yield

    def retry(self, error: Exception) -> None:
        """Note an attempt that will be repeated."""
        for span in self.spans:
            span.record_exception(error)
        _now.instruments.retried.add(1, self.labels)

    def fail(self, error: Exception) -> None:
        """Note that the message was given up."""
        self.failed = True
        for span in self.spans:
            span.record_exception(error)
            span.set_status(Status(StatusCode.ERROR, str(error)))

    def leave(self) -> None:
        """Note that the message was not finished and comes again."""
        self.left = True


@contextmanager
def handling(service: str, topic: str, deliveries: Sequence[Delivery]) -> Generator[HandlingSpan]:
    """One span for each message, child of its publisher's; `messaging.message.id` finds it.

    What is done for messages of several traces together belongs to none of them: it has a trace of
    its own, linked to and from each.
    """
    labels = {"service": service, "topic": topic}
    with ExitStack() as stack:
        spans = _enter_spans(stack, service, topic, deliveries)
        started = time.perf_counter()
        handled = HandlingSpan(spans, labels)
        yield handled
        if not handled.left:
            instruments = _now.instruments
            instruments.duration.record(time.perf_counter() - started, labels)
            ended = instruments.failed if handled.failed else instruments.handled
            ended.add(len(deliveries), labels)


def _enter_spans(
    stack: ExitStack, service: str, topic: str, deliveries: Sequence[Delivery]
) -> Sequence[Span]:
    """Begin the spans; current is the one that what the handler does is to be a part of."""
    attributes: dict[str, str | int] = {
        "messaging.system": "pulsar",
        "messaging.destination.name": topic,
        "messaging.batch.message_count": len(deliveries),
        "fourtier.service": service,
    }
    contexts = [_PROPAGATOR.extract(delivery.properties) for delivery in deliveries]
    publishers = [trace.get_current_span(context).get_span_context() for context in contexts]
    of_one_trace = len({each.trace_id for each in publishers}) == 1 and publishers[0].is_valid
    shared: list[Span] = []
    if len(deliveries) > 1 and not of_one_trace:
        shared.append(
            _now.tracer.start_span(
                f"{topic} batch",
                context=Context(),
                links=[Link(each) for each in publishers if each.is_valid],
                attributes=attributes,
            )
        )
    spans = [
        _now.tracer.start_span(
            f"{topic} handle",
            context=context,
            kind=SpanKind.CONSUMER,
            links=[Link(span.get_span_context()) for span in shared],
            attributes=attributes
            | {"messaging.message.id": delivery.properties.get(envelope.ID) or delivery.id},
        )
        for context, delivery in zip(contexts, deliveries, strict=True)
    ]
    for span in (*reversed(spans), *shared):  # the last to be entered is the current one
        stack.enter_context(trace.use_span(span, end_on_exit=True))
    return spans


@contextmanager
def calling(topic: str, message_id: str) -> Generator[None]:
    """One span for sending a question and waiting for its first answer."""
    with _now.tracer.start_as_current_span(
        f"{topic} call",
        kind=SpanKind.CLIENT,
        attributes={"messaging.destination.name": topic, "messaging.message.id": message_id},
    ):
        yield


@contextmanager
def step(name: str) -> Generator[None]:
    """One span for a named part of a service's own work."""
    with _now.tracer.start_as_current_span(name):
        yield


def inject(properties: dict[str, str]) -> None:
    """Put the current trace context into the properties of a message."""
    _PROPAGATOR.inject(properties)


def trace_id() -> str:
    """The current trace in hexadecimal; empty when nothing is traced."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def count_taken(service: str, topic: str, deliveries: Sequence[Delivery]) -> None:
    """Count messages that were taken together: how many, and how long each had waited."""
    labels = {"service": service, "topic": topic}
    now = time.time()
    for delivery in deliveries:
        _now.instruments.age.record(max(0.0, now - delivery.published_at), labels)
    _now.instruments.batch.record(len(deliveries), labels)


def count_refused(service: str, topic: str) -> None:
    """Count a message that was not taken on."""
    _now.instruments.refused.add(1, {"service": service, "topic": topic})


def count_expired(service: str, topic: str) -> None:
    """Count a read that nobody waits for any more."""
    _now.instruments.expired.add(1, {"service": service, "topic": topic})


def count_dead_letter(service: str, topic: str) -> None:
    """Count a message that was put into the dead letters."""
    _now.instruments.dead.add(1, {"service": service, "topic": topic})


def count_left_out(tier: str) -> None:
    """Count a tier that a run had to do without."""
    _now.instruments.left_out.add(1, {"tier": tier})


def count_model_tokens(model: str, prompt: int, completion: int) -> None:
    """Count the tokens of one completion."""
    _now.instruments.model_tokens.add(prompt, {"model": model, "kind": "prompt"})
    _now.instruments.model_tokens.add(completion, {"model": model, "kind": "completion"})
