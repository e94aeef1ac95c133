"""What Fourtier really shows on /metrics, found out by making it count everything once."""

import inspect
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from fourtier.runtime import telemetry
from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.process.telemetry_setup import telemetry_to

#: What Prometheus adds to the names of these kinds.
_ENDINGS = {"counter": "_total", "info": "_info"}
_DECLARED = re.compile(r'\.create_[a-z_]*(?:counter|histogram|gauge)\(\s*"([a-z_.]+)"')


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
    """Every metric of a process that has counted everything once, by its name in Prometheus."""
    async with telemetry_to(None, "metrics") as registry:
        _count_everything()
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


def _count_everything() -> None:
    """Call whatever telemetry offers for counting, with arguments made from the annotations."""
    for name, function in inspect.getmembers(telemetry, inspect.isfunction):
        if name.startswith("count_"):
            function(**_arguments(function))
    for fails in (False, True):
        with telemetry.handling("facts", "facts.store", [_delivery()]) as span:
            span.retry(ValueError("once"))
            if fails:
                span.fail(ValueError("for good"))


def _arguments(function: Callable[..., Any]) -> dict[str, object]:
    samples: dict[object, object] = {
        str: "facts",
        int: 1,
        float: 1.0,
        Sequence[Delivery]: [_delivery()],
    }
    return {
        name: samples[parameter.annotation]
        for name, parameter in inspect.signature(function).parameters.items()
    }


def _delivery() -> Delivery:
    async def acknowledge() -> None: ...

    return Delivery("1", b"{}", {}, "key", time.time(), False, acknowledge)
