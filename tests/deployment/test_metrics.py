"""docs/metrics.md describes the metrics of the code; the dashboard queries only existing ones."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import promql_parser
import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.opening import BusConfig, open_bus
from tests.cluster.servers import SERVERS
from tests.deployment.deployment_files import SERVICES
from tests.deployment.instruments import Metric, declared, observed, sample_names

DASHBOARD = json.loads(Path("deploy/grafana/dashboards/fourtier.json").read_text("utf-8"))
#: What Prometheus adds to every sample: see deploy/prometheus and k8s/components/monitoring.
TARGET_LABELS = {"component", "instance", "job", "namespace", "pod"}


def _documented() -> dict[str, tuple[Metric, str]]:
    rows: dict[str, tuple[Metric, str]] = {}
    for line in Path("docs/metrics.md").read_text("utf-8").splitlines():
        if line.startswith("| `"):
            name, kind, labels, what, source = (cell.strip() for cell in line.split("|")[1:-1])
            name = name.strip("`")
            assert name not in rows, f"{name} has two rows"
            known = {label.strip() for label in labels.split(",") if label.strip()}
            rows[name] = Metric(name, kind, what, known), source
    return rows


async def test_each_metric_is_documented_as_the_code_reports_it() -> None:
    documented = {
        name: metric
        for name, (metric, source) in _documented().items()
        if source in {"fourtier", "process"}
    }
    assert documented == await observed()


async def test_every_instrument_of_the_code_is_measured_here() -> None:
    seen = await observed()
    for name in declared():
        in_prometheus = re.compile(rf"{name.replace('.', '_')}(_seconds|_bytes)?(_total)?")
        assert any(in_prometheus.fullmatch(known) for known in seen), (
            f"{name} is declared and never used by tests/deployment/instruments.py"
        )


def _queries() -> Iterator[str]:
    texts = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    texts += [
        re.sub(r"label_values\((.+), \w+\)", r"\1", variable["query"])
        for variable in DASHBOARD["templating"]["list"]
        if variable["type"] == "query"
    ]
    for text in texts:
        yield text.replace("$__rate_interval", "5m").replace("$service", ".+")


def _parts(node: object) -> Iterator[object]:
    """A parsed query and all its parts."""
    yield node
    for name in ("expr", "lhs", "rhs", "param", "vector_selector", "selector"):
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, str | int | float):
            yield from _parts(child)
    for child in getattr(node, "args", None) or []:
        yield from _parts(child)


@pytest.mark.parametrize("query", list(_queries()))
def test_a_query_uses_only_existing_metrics_and_labels(query: str) -> None:
    by_sample = {
        sample: metric for metric, _ in _documented().values() for sample in sample_names(metric)
    }
    parts = list(_parts(promql_parser.parse(query)))
    selectors = [part for part in parts if isinstance(part, promql_parser.VectorSelector)]
    assert selectors
    for selector in selectors:
        metric = by_sample[selector.name]
        known = metric.labels | TARGET_LABELS | ({"le"} if "_bucket" in selector.name else set())
        assert {matcher.name for matcher in selector.matchers.matchers} <= known
        for part in parts:
            if isinstance(part, promql_parser.AggregateExpr) and part.modifier is not None:
                assert set(part.modifier.labels) <= known


@pytest.mark.parametrize("query", [each for each in _queries() if "_total" in each])
def test_a_counter_is_queried_for_its_rate(query: str) -> None:
    assert re.search(r"(rate|increase)\([a-z_]+_total", query)


def test_queries_name_only_topics_of_existing_services() -> None:
    topics = set(re.findall(r'messaging_destination_name="([\w.-]+)"', " ".join(_queries())))
    assert {topic.partition(".")[0] for topic in topics} <= SERVICES


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.pulsar_url is None, reason="FOURTIER_TEST_PULSAR_URL names no server")
async def test_the_documented_metrics_of_pulsar_exist(tmp_path: Path) -> None:
    config = BusConfig(str(SERVERS.pulsar_url), "public", "default", tmp_path)
    async with open_bus(config) as (bus, _):
        await bus.create_group(Address("metrics-test"), "facts")
    url = f"{SERVERS.pulsar_admin_url}/metrics/"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        text = await answer.text()
    samples = re.findall(r"^(\w+){(.*topic=.*metrics-test.*)}", text, re.MULTILINE)
    seen = {
        name: Metric(name, "gauge", "", set(re.findall(r'(\w+)="', labels)))
        for name, labels in samples
    }
    for metric, source in _documented().values():
        if source == "Pulsar":
            assert seen[metric.name] == replace(metric, description="")
