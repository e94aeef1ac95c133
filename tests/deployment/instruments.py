"""What Fourtier really shows on /metrics, found out by measuring with every instrument once."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client import CollectorRegistry

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.memory.facts.comparisons import POSTPONED
from fourtier.memory.learning.commands import UNSUPPORTED
from fourtier.memory.learning.fallback import FALLBACKS
from fourtier.memory.learning.learned import REJECTED
from fourtier.memory.retention.metrics import count_not_stored, count_removed
from fourtier.models.completion.metrics import count_tokens_used
from fourtier.models.completion.opening import _labels as endpoint_labels
from fourtier.models.genai import model_operation
from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.privacy.redactor import REDACTED
from fourtier.runtime.process.telemetry_setup import telemetry_to
from fourtier.runtime.rpc.instrumentation import (
    count_consumed,
    count_dead_letter,
    count_expired,
    count_shed,
    measure_batch,
    process_span,
)

#: What Prometheus adds to the names of these kinds.
_ENDINGS = {"counter": "_total", "info": "_info"}
_URL = "https://models.example:8443/v1"
_DECLARED = re.compile(r'(?:Counted|Measured)Metric\(\s*"([a-z_.]+)"')


@dataclass
class Metric:
    """One row of docs/metrics.md.

    Attributes:
        labels: of its samples, without those that belong to the kind.
    """

    name: str
    kind: str
    description: str
    labels: set[str] = field(default_factory=set)


def declared() -> set[str]:
    """The names of all instruments in the code, as OpenTelemetry knows them."""
    return {
        name
        for file in Path("services").rglob("*.py")
        for name in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }


async def observed() -> dict[str, Metric]:
    """Every metric of a process that has used each instrument, by its name in Prometheus."""
    async with telemetry_to(None, "metrics") as registry:
        _measure_everything()
        return _metrics(registry)


def sample_names(metric: Metric) -> set[str]:
    """The names that a query may use."""
    parts = ("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",)
    return {f"{metric.name}{part}" for part in parts}


def _metrics(registry: CollectorRegistry) -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    for family in registry.collect():
        name = family.name + _ENDINGS.get(family.type, "")
        metric = found.setdefault(name, Metric(name, family.type, family.documentation))
        for sample in family.samples:
            metric.labels |= set(sample.labels) - {"le"}
    return found


def _measure_everything() -> None:
    """A new instrument needs its line here: test_metrics.py says so when it is missing."""
    service, topic, delivery = "facts", "facts.store", _delivery()
    count_consumed(service, topic, [delivery])
    measure_batch(service, topic, 1)
    for count in (count_shed, count_expired, count_dead_letter):
        count(service, topic)
    with process_span(service, topic, [delivery]):
        pass
    with process_span(service, topic, [delivery]) as span:
        span.retry(ValueError("once"))
        span.fail(ValueError("for good"), "permanent")
    for fails in (False, True):
        with model_operation("chat", "a-model", endpoint_labels("openai", _URL)) as operation:
            operation.label({"gen_ai.response.model": "a-model"})
            count_tokens_used(operation.labels, 1, 1)
            if fails:
                operation.fail("unavailable")
    TIERS_LEFT_OUT.add(1, {"fourtier.tier": "facts"})
    REJECTED.add(1, {"messaging.consumer.group.name": service})
    FALLBACKS.add(1, {"messaging.consumer.group.name": service, "error.type": "model-rejected"})
    UNSUPPORTED.add(1, {})
    POSTPONED.add(1, {})
    count_not_stored("fact", "quota")
    count_removed("fact", "evicted", 1)
    REDACTED.add(1, {"fourtier.privacy.kind": "iban", "messaging.consumer.group.name": service})


def _delivery() -> Delivery:
    async def acknowledge() -> None: ...

    return Delivery("1", b"{}", {}, "key", time.time(), False, acknowledge)
