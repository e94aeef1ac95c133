"""Where telemetry goes: Prometheus always, OTLP over HTTP where an endpoint is named.

OpenTelemetry's providers are global and can be set once in a process; a second set-up reuses them.
"""

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prometheus_client import REGISTRY, CollectorRegistry


@contextmanager
def telemetry_to(otlp_endpoint: str | None, flow: str) -> Generator[CollectorRegistry]:
    """Report until the context ends; yields the registry that /metrics shows.

    Args:
        otlp_endpoint: such as http://collector:4318; None reports nowhere but to Prometheus.
        flow: name of the flow, an attribute of all that is reported.
    """
    if isinstance(metrics.get_meter_provider(), MeterProvider):
        yield REGISTRY
        return
    resource = Resource.create({"service.name": "fourtier", "fourtier.flow": flow})
    readers: list[MetricReader] = [PrometheusMetricReader()]
    if otlp_endpoint:
        base = otlp_endpoint.rstrip("/")
        readers.append(
            PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=f"{base}/v1/metrics"))
        )
        tracer = TracerProvider(resource=resource)
        tracer.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base}/v1/traces"))
        )
        trace.set_tracer_provider(tracer)
    meter = MeterProvider(metric_readers=readers, resource=resource)
    metrics.set_meter_provider(meter)
    try:
        yield REGISTRY
    finally:
        meter.force_flush()
        provider = trace.get_tracer_provider()
        if isinstance(provider, TracerProvider):
            provider.force_flush()
