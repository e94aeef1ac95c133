"""k8s/ deploys the services of the flow, and agrees with the flow and the code."""

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from fourtier.flows.model import parse_flow
from tests.deployment.commands import parsed
from tests.deployment.deployment_files import (
    FLOW,
    OPERATORS,
    OVERLAYS,
    SERVICES,
    component,
    compose,
    container,
    environment,
    pods,
    rendered,
    run,
    variables,
    volumes,
)

pytestmark = pytest.mark.parametrize("overlay", OVERLAYS)

#: All except the kinds of KEDA and the Prometheus operator: see test_scaling.py.
_KUBERNETES = "(?!ScaledObject|TriggerAuthentication|ServiceMonitor).*"
FLOW_FILE = "/etc/fourtier/flow.yaml"


@pytest.mark.parametrize("version", ["1.32", "1.37"])
def test_kubernetes_accepts_them(overlay: str, version: str, tmp_path: Path) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(rendered(overlay, _KUBERNETES)), "utf-8")
    said = run("kubernetes-validate", "--strict", "--quiet", "-k", version, str(file))
    assert not said  # such as a warning about an unknown kind


def test_each_service_has_a_deployment_and_a_disruption_budget(overlay: str) -> None:
    assert {component(each) for each in rendered(overlay, "Deployment")} == SERVICES
    assert {component(each) for each in rendered(overlay, "PodDisruptionBudget")} == SERVICES
    for manifest in rendered(overlay, "Deployment|PodDisruptionBudget"):
        name = component(manifest)
        assert manifest["metadata"]["name"] == f"fourtier-{name}"
        selector = manifest["spec"]["selector"]["matchLabels"]
        assert selector["app.kubernetes.io/component"] == name
        assert selector.items() <= pods(overlay)[name]["metadata"]["labels"].items()


def test_each_pod_runs_its_command_with_the_mounted_flow(overlay: str) -> None:
    for name, template in pods(overlay).items():
        command, parameters = parsed(container(template)["args"])
        assert parameters["flow"] == FLOW_FILE
        if name in OPERATORS:
            assert command == name
        else:
            assert command == "serve"
            assert parameters["services"] == [name]
        assert not parameters.get("dry_run")
        mounts = {each["name"]: each["mountPath"] for each in container(template)["volumeMounts"]}
        assert mounts["flow"] == str(Path(FLOW_FILE).parent)


def test_the_mounted_flow_is_the_shipped_one(overlay: str) -> None:
    maps = {each["metadata"]["name"]: each for each in rendered(overlay, "ConfigMap")}
    for template in pods(overlay).values():
        content = maps[volumes(template)["flow"]["configMap"]["name"]]["data"]
        assert parse_flow(content[Path(FLOW_FILE).name], FLOW_FILE) == FLOW


def test_only_settings_that_the_code_reads_are_set(overlay: str) -> None:
    assert set(environment(overlay)) <= variables()
    for template in pods(overlay).values():
        runs = container(template)
        assert {each["name"] for each in runs["env"]} <= variables() | {"COLUMNS"}  # rich's
        (source,) = runs["envFrom"]
        names = {each["metadata"]["name"] for each in rendered(overlay, "ConfigMap")}
        assert source["configMapRef"]["name"] in names


def test_an_unchanged_deployment_is_unchanged_for_kubernetes(overlay: str) -> None:
    """A default of the server that is not written here makes each apply report a change."""
    for manifest in rendered(overlay, "Deployment"):
        assert manifest["spec"]["strategy"] == {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
        }


def test_probes_use_the_health_port_of_the_flow(overlay: str) -> None:
    for manifest in rendered(overlay, "Deployment"):
        runs = container(manifest["spec"]["template"])
        assert runs["ports"] == [{"name": "health", "containerPort": FLOW.health_port}]
        paths = {
            probe: runs[probe]["httpGet"]["path"]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        }
        assert paths == {
            "startupProbe": "/ready",
            "livenessProbe": "/live",
            "readinessProbe": "/ready",
        }
        assert {runs[probe]["httpGet"]["port"] for probe in paths} == {"health"}


def test_images_are_those_of_this_version(overlay: str) -> None:
    version = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["version"]
    tag = {"laptop": "local", "production": version}[overlay]
    images = {container(template)["image"] for template in pods(overlay).values()}
    assert images == {f"fourtier:{tag}"}


def test_the_engines_have_the_addresses_of_the_flow(overlay: str) -> None:
    if overlay == "production":
        urls = {name for name in environment(overlay) if name.endswith("_URL")}
        assert {f"FOURTIER_{each}_URL" for each in ("BUS", "BUS_ADMIN", "GRAPH", "VECTORS")} <= urls
        assert not rendered(overlay, "StatefulSet")
        return
    ports = {
        (each["metadata"]["name"], port["port"])
        for each in rendered(overlay, "Service")
        for port in each["spec"]["ports"]
    }
    urls = (FLOW.bus.url, str(FLOW.bus.admin_url), FLOW.engines.graph, FLOW.engines.vectors)
    assert ports == {(urlsplit(url).hostname, urlsplit(url).port) for url in urls}
    for each in rendered(overlay, "StatefulSet"):
        engine = container(each["spec"]["template"])
        like = compose()["services"][each["metadata"]["name"]]["image"]
        assert re.fullmatch(rf"{re.escape(like)}(-unprivileged)?", engine["image"])
        assert each["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
        assert each["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 120


def test_pulsar_starts_as_in_compose(overlay: str) -> None:
    """Also with the address under which it finds its data again, whatever the pod's is."""
    for each in rendered(overlay, "StatefulSet"):
        if each["metadata"]["name"] == "pulsar":
            runs, like = container(each["spec"]["template"]), compose()["services"]["pulsar"]
            assert runs["command"] == like["command"]
            given = {variable["name"]: variable["value"] for variable in runs["env"]}
            assert given == like["environment"]
