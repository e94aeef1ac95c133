"""Spans, metrics, logs and redaction: the ground floor of the runtime."""

from fourtier.runtime.telemetry.reporting import (
    TRACE_CONTEXT,
    CountedMetric,
    MeasuredMetric,
    extract,
    inject,
    is_tracing,
    reporting_to,
    step,
    trace_id,
    tracer,
)

__all__ = [
    "TRACE_CONTEXT",
    "CountedMetric",
    "MeasuredMetric",
    "extract",
    "inject",
    "is_tracing",
    "reporting_to",
    "step",
    "trace_id",
    "tracer",
]
