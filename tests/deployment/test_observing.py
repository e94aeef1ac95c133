"""Prometheus, collector and Grafana in docker-compose.yaml use addresses that exist."""

from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.deployment.deployment_files import FLOW, SERVICES, compose, compose_services

_DEPLOY = Path("deploy")


def _read(path: str) -> dict:
    return yaml.safe_load((_DEPLOY / path).read_text("utf-8"))


def test_prometheus_scrapes_every_service_on_its_health_port() -> None:
    jobs = {job["job_name"]: job for job in _read("prometheus/prometheus.yaml")["scrape_configs"]}
    (names,) = jobs["fourtier"]["dns_sd_configs"]
    assert set(names["names"]) == SERVICES
    assert names["port"] == FLOW.health_port
    assert jobs["pulsar"]["static_configs"] == [{"targets": ["pulsar:8080"]}]


def test_services_report_to_the_collector() -> None:
    collector = _read("collector/config.yaml")
    listens = urlsplit(f"//{collector['receivers']['otlp']['protocols']['http']['endpoint']}")
    for name in SERVICES:
        endpoint = urlsplit(compose_services()[name]["environment"]["FOURTIER_OTLP_ENDPOINT"])
        assert endpoint.hostname in compose()["services"]
        assert endpoint.port == listens.port


def test_the_collector_defines_the_parts_of_its_pipelines() -> None:
    collector = _read("collector/config.yaml")
    pipelines = collector["service"]["pipelines"]
    assert set(pipelines) == {
        "traces",
        "metrics",
    }  # what our SDK sends; without a pipeline it logs errors
    for pipeline in pipelines.values():
        for part, names in pipeline.items():
            assert set(names) <= set(collector[part])
    backend = collector["exporters"]["otlp/jaeger"]["endpoint"].partition(":")[0]
    assert backend in compose()["services"]


def test_grafana_uses_existing_data_sources_and_dashboards() -> None:
    sources = _read("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    assert {urlsplit(source["url"]).hostname for source in sources} <= set(compose()["services"])
    (provider,) = _read("grafana/provisioning/dashboards/dashboards.yaml")["providers"]
    grafana = compose()["services"]["grafana"]
    mounts = {volume.split(":")[1]: volume.split(":")[0] for volume in grafana["volumes"]}
    path = provider["options"]["path"]
    assert mounts[path] == "./deploy/grafana/dashboards"
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (_DEPLOY / "grafana/dashboards" / Path(home).relative_to(path)).is_file()
