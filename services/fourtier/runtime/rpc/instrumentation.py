"""Spans and metrics of messages, after OpenTelemetry's conventions for messaging systems.

https://opentelemetry.io/docs/specs/semconv/messaging/ names `messaging.process.duration`,
`messaging.client.consumed.messages`, the attributes `messaging.*` and `error.type`. What it does
not name begins with `fourtier.`. The names are part of what is promised: dashboards are built on
them.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Link, Span, SpanKind, Status, StatusCode

from fourtier.runtime import telemetry
from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.rpc import envelope
from fourtier.runtime.telemetry import CountedMetric, MeasuredMetric

_SYSTEM = {"messaging.system": "pulsar"}
#: From a read out of memory to a run with a slow model.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

CONSUMED = CountedMetric(
    "messaging.client.consumed.messages", "messages taken from the bus", "{message}"
)
PROCESS_DURATION = MeasuredMetric(
    "messaging.process.duration",
    "time from taking a message to its end; failed ones have an error.type",
    "s",
    _SECONDS,
)
RETRIED = CountedMetric(
    "fourtier.messages.retried", "attempts that failed and were tried again", "{attempt}"
)
DEAD_LETTERED = CountedMetric(
    "fourtier.messages.dead_lettered", "messages put into the dead-letter queue", "{message}"
)
EXPIRED = CountedMetric(
    "fourtier.messages.expired",
    "queries dropped because their caller had stopped waiting",
    "{message}",
)
SHED = CountedMetric(
    "fourtier.messages.shed",
    "messages not taken on because too many were in flight",
    "{message}",
)
QUEUE_AGE = MeasuredMetric(
    "fourtier.messages.queue_age", "age of a message when it was taken", "s", _SECONDS
)
BATCH_SIZE = MeasuredMetric(
    "fourtier.messages.batch_size",
    "messages in a batch, of what is handled in batches",
    "{message}",
    (1, 2, 4, 8, 16, 32, 64, 128, 256),
)


@cache
def _labels(service: str, topic: str) -> dict[str, str]:
    return {
        **_SYSTEM,
        "messaging.operation.name": "process",
        "messaging.destination.name": topic,
        "messaging.consumer.group.name": service,
    }


@dataclass
class ProcessSpan:
    """What the handler loop reports while it handles messages: a span for each of them."""

    spans: Sequence[Span]
    labels: dict[str, str]
    error_type: str = ""
    left: bool = False

    @contextmanager
    def answering(self, index: int) -> Generator[None]:
        """Answer the message at this index of the batch, in its own trace."""
        with trace.use_span(self.spans[index]):
            yield

    def retry(self, error: Exception) -> None:
        """Note an attempt that will be repeated."""
        for span in self.spans:
            span.record_exception(error)
        RETRIED.add(1, self.labels)

    def fail(self, error: Exception, error_type: str) -> None:
        """Note that the message failed for good."""
        self.error_type = error_type
        for span in self.spans:
            span.record_exception(error)
            span.set_attribute("error.type", error_type)
            span.set_status(Status(StatusCode.ERROR, str(error)))

    def leave(self) -> None:
        """Note that the message was not finished and is redelivered."""
        self.left = True


@contextmanager
def process_span(
    service: str, topic: str, deliveries: Sequence[Delivery]
) -> Generator[ProcessSpan]:
    """One span for each message, child of its publisher's; `messaging.message.id` finds it.

    Work for messages of several traces belongs to none of them: it has a trace of its own, linked
    to and from each.
    """
    labels = _labels(service, topic)
    with ExitStack() as stack:
        span = ProcessSpan(_enter_spans(stack, labels, deliveries), labels)
        started = time.perf_counter()
        yield span
        if not span.left:
            ended = labels | {"error.type": span.error_type} if span.error_type else labels
            seconds = time.perf_counter() - started
            for _ in deliveries:
                PROCESS_DURATION.record(seconds, ended)


def _enter_spans(
    stack: ExitStack, labels: dict[str, str], deliveries: Sequence[Delivery]
) -> Sequence[Span]:
    """Begin the spans; current is the one that what the handler does is to be a part of."""
    if not telemetry.is_tracing() and not any(
        telemetry.TRACE_CONTEXT in delivery.properties for delivery in deliveries
    ):
        return [INVALID_SPAN] * len(deliveries)  # and there is no trace to be passed on
    topic = labels["messaging.destination.name"]
    attributes: dict[str, str | int] = {
        **labels,
        "messaging.operation.type": "process",
        "messaging.batch.message_count": len(deliveries),
    }
    contexts = [telemetry.extract(delivery.properties) for delivery in deliveries]
    publishers = [trace.get_current_span(context).get_span_context() for context in contexts]
    of_one_trace = len({each.trace_id for each in publishers}) == 1 and publishers[0].is_valid
    shared: list[Span] = []
    if len(deliveries) > 1 and not of_one_trace:
        shared.append(
            telemetry.tracer().start_span(
                f"process batch {topic}",
                context=Context(),
                links=[Link(each) for each in publishers if each.is_valid],
                attributes=attributes,
            )
        )
    spans = [
        telemetry.tracer().start_span(
            f"process {topic}",
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
def call_span(topic: str, message_id: str) -> Generator[None]:
    """One span for sending a question and waiting for its first answer."""
    with telemetry.tracer().start_as_current_span(
        f"send {topic}",
        kind=SpanKind.CLIENT,
        attributes={
            **_SYSTEM,
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "messaging.destination.name": topic,
            "messaging.message.id": message_id,
        },
    ):
        yield


def count_consumed(service: str, topic: str, deliveries: Sequence[Delivery]) -> None:
    """Count messages that were taken: how many, and how long each had waited."""
    labels = _labels(service, topic)
    now = time.time()
    for delivery in deliveries:
        QUEUE_AGE.record(max(0.0, now - delivery.published_at), labels)
    CONSUMED.add(len(deliveries), labels)


def measure_batch(service: str, topic: str, size: int) -> None:
    """Measure a batch, of a topic that is handled in batches."""
    BATCH_SIZE.record(size, _labels(service, topic))


def count_shed(service: str, topic: str) -> None:
    """Count a message that was not taken on."""
    SHED.add(1, _labels(service, topic))


def count_expired(service: str, topic: str) -> None:
    """Count a query whose caller has stopped waiting."""
    EXPIRED.add(1, _labels(service, topic))


def count_dead_letter(service: str, topic: str) -> None:
    """Count a message that was put into the dead-letter queue."""
    DEAD_LETTERED.add(1, _labels(service, topic))
