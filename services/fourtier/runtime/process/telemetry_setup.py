"""Where telemetry goes: Prometheus always, OTLP over HTTP where an endpoint is named."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NoOpTracerProvider
from prometheus_client import CollectorRegistry, ProcessCollector

from fourtier.runtime import telemetry
from fourtier.runtime.errors import StartupError

#: Seconds for one request to the collector. A stop waits no longer for the last of them.
_TIMEOUT = 5.0


@asynccontextmanager
async def telemetry_to(
    otlp_endpoint: str | None, flow: str, services: Sequence[str] = ()
) -> AsyncGenerator[CollectorRegistry]:
    """Report until the context ends; yields the registry that /metrics shows.

    Args:
        otlp_endpoint: such as http://collector:4318; None reports nowhere but to Prometheus.
        flow: name of the flow, an attribute of all that is reported.
        services: those that run in this process; with one, the process is named for it.

    Raises:
        StartupError: the endpoint is not an HTTP URL.
    """
    resource = _resource(flow, services)
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    readers: list[MetricReader] = [
        PrometheusMetricReader(registry=registry, scope_info_enabled=False)
    ]
    tracers = None
    if otlp_endpoint:
        base = _base(otlp_endpoint)
        exporter = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=_TIMEOUT)
        readers.append(PeriodicExportingMetricReader(exporter))
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=_TIMEOUT)
        tracers.add_span_processor(BatchSpanProcessor(spans))
    meters = MeterProvider(metric_readers=readers, resource=resource, shutdown_on_exit=False)
    try:
        with telemetry.reporting_to(tracers or NoOpTracerProvider(), meters):
            yield registry
    finally:
        # In threads of their own: both wait for their last request to the collector.
        ending = [asyncio.to_thread(meters.shutdown, timeout_millis=_TIMEOUT * 1000)]
        if tracers is not None:
            ending.append(asyncio.to_thread(tracers.shutdown))
        await asyncio.gather(*ending)


def _resource(flow: str, services: Sequence[str]) -> Resource:
    name = f"fourtier-{services[0]}" if len(services) == 1 else "fourtier"
    return Resource.create(
        {
            "service.name": name,
            "service.namespace": flow,
            "service.version": version("fourtier"),
            "fourtier.services": list(services),
        }
    )


def _base(endpoint: str) -> str:
    if not endpoint.startswith(("http://", "https://")):
        raise StartupError(
            f"telemetry cannot be sent to {endpoint!r}: write FOURTIER_OTLP_ENDPOINT as "
            f"http://HOST:PORT or https://HOST:PORT"
        )
    return endpoint.rstrip("/")
