"""Spans, metrics, logs and redaction: the ground floor of the runtime."""

from fourtier.runtime.telemetry.reporting import (
    CountedMetric,
    MeasuredMetric,
    extract,
    inject,
    reporting_to,
    step,
    trace_id,
    tracer,
)

__all__ = [
    "CountedMetric",
    "MeasuredMetric",
    "extract",
    "inject",
    "reporting_to",
    "step",
    "trace_id",
    "tracer",
]
