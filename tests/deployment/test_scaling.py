"""KEDA scales services by the topics that they handle; Prometheus finds the pods."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fourtier.flows.provisioning import bus_needs
from fourtier.runtime.service.registry import load_service
from tests.deployment.deployment_files import (
    FLOW,
    SERVICES,
    Yaml,
    environment,
    pods,
    rendered,
    run,
    volumes,
)

NEEDS = bus_needs(FLOW)
#: Each topic with the services that are subscribed to it.
SUBSCRIBED = {(topic, group) for topic, groups in NEEDS.groups.items() for group in groups}
#: Their topics are not persistent, so that no messages wait there.
WITHOUT_BACKLOG = SERVICES - {group for _, group in SUBSCRIBED}


def _scaled() -> dict[str, Yaml]:
    return {
        each["spec"]["scaleTargetRef"]["name"].removeprefix("fourtier-"): each["spec"]
        for each in rendered("production", "ScaledObject")
    }


def _triggers(spec: Yaml) -> set[tuple[str, str]]:
    """Topic and group of each trigger on Pulsar."""
    prefix = f"persistent://{NEEDS.tenant}/{NEEDS.namespace}/"
    metadata = [each["metadata"] for each in spec["triggers"] if each["type"] == "pulsar"]
    assert all(each["topic"].startswith(prefix) for each in metadata)
    return {(each["topic"].removeprefix(prefix), each["subscription"]) for each in metadata}


def test_each_service_scales_and_only_there() -> None:
    assert set(_scaled()) == SERVICES
    assert not rendered("laptop", "ScaledObject")
    names = {each["metadata"]["name"] for each in rendered("production", "Deployment")}
    assert {spec["scaleTargetRef"]["name"] for spec in _scaled().values()} == names


@pytest.mark.parametrize("service", sorted(SERVICES - WITHOUT_BACKLOG))
def test_a_service_scales_by_the_topics_that_it_handles(service: str) -> None:
    handled = {(topic, group) for topic, group in SUBSCRIBED if group == service}
    assert _triggers(_scaled()[service]) == handled


def test_completion_scales_by_the_backlog_of_those_that_need_completions() -> None:
    assert "completion" in WITHOUT_BACKLOG
    drivers = {name for name in SERVICES if "completion" in load_service(name).deployment.drives}
    assert {"agent", "extraction", "promotion"} <= drivers
    needed = {(topic, group) for topic, group in SUBSCRIBED if group in drivers}
    assert _triggers(_scaled()["completion"]) == needed


def test_a_service_without_any_backlog_scales_by_its_processor() -> None:
    assert "embeddings" in WITHOUT_BACKLOG
    assert _scaled()["embeddings"]["triggers"] == [
        {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "70"}}
    ]


def test_a_trigger_knows_the_address_of_pulsar_and_its_credentials() -> None:
    (authentication,) = rendered("production", "TriggerAuthentication")
    for spec in _scaled().values():
        assert 2 <= spec["minReplicaCount"] < spec["maxReplicaCount"]
        for trigger in spec["triggers"]:
            if trigger["type"] == "pulsar":
                metadata = trigger["metadata"]
                assert metadata["adminURL"] == environment("production")["FOURTIER_BUS_ADMIN_URL"]
                assert metadata["authModes"] == "bearer"
                assert int(metadata["msgBacklogThreshold"]) > 0
                name = trigger["authenticationRef"]["name"]
                assert name == authentication["metadata"]["name"]
    (secret,) = authentication["spec"]["secretTargetRef"]
    assert (secret["parameter"], secret["key"]) == ("bearerToken", "fourtier_bus_token")
    (trusted,) = authentication["spec"]["configMapTargetRef"]
    assert (trusted["parameter"], trusted["key"]) == ("ca", "ca.crt")
    mounted = [
        source["configMap"]
        for template in pods("production").values()
        for source in volumes(template)["secrets"]["projected"]["sources"]
        if "configMap" in source
    ]
    assert {each["name"] for each in mounted} == {trusted["name"]}


def test_without_a_token_a_trigger_has_no_authentication(tmp_path: Path) -> None:
    """Not even an empty one: KEDA would reject it."""
    for folder in ("k8s", "flows", "deploy"):
        shutil.copytree(folder, tmp_path / folder)
    overlay = tmp_path / "k8s/overlays/production"
    kustomization = overlay / "kustomization.yaml"
    with_token = kustomization.read_text("utf-8")
    kustomization.write_text(
        with_token.replace("- ../../components/autoscaling-token\n", ""), "utf-8"
    )
    manifests = list(yaml.safe_load_all(run("kubectl", "kustomize", str(overlay))))
    kinds = {each["kind"] for each in manifests}
    assert "ScaledObject" in kinds
    assert "TriggerAuthentication" not in kinds
    for each in manifests:
        for trigger in each["spec"]["triggers"] if each["kind"] == "ScaledObject" else []:
            assert "authModes" not in trigger["metadata"]
            assert "authenticationRef" not in trigger


def test_prometheus_finds_every_pod_and_adds_the_label_of_its_service() -> None:
    (monitor,) = rendered("production", "ServiceMonitor")
    (service,) = rendered("production", "Service")
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    )
    (endpoint,) = monitor["spec"]["endpoints"]
    (port,) = service["spec"]["ports"]
    assert endpoint["port"] == port["name"]
    assert port["port"] == FLOW.health_port
    (relabeling,) = endpoint["relabelings"]
    assert relabeling["targetLabel"] == "component"
    # The operator's default: left out, a server-side apply after a client-side one has a conflict.
    assert relabeling["action"] == "replace"
    for deployment in rendered("production", "Deployment"):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()


def test_grafana_finds_the_dashboard() -> None:
    (dashboard,) = [
        each
        for each in rendered("production", "ConfigMap")
        if each["metadata"]["name"].startswith("fourtier-dashboard-")
    ]
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert yaml.safe_load(dashboard["data"]["fourtier.json"])["uid"] == "fourtier"


_KNOWN = """
import sys, yaml
from cloudcoil.models.keda.v1alpha1 import ScaledObject, TriggerAuthentication
from cloudcoil.models.prometheus_operator.v1 import ServiceMonitor

models = {model.__name__: model for model in (ScaledObject, TriggerAuthentication, ServiceMonitor)}
for manifest in yaml.safe_load_all(sys.stdin):
    read = models[manifest["kind"]].model_validate(manifest)
    # The model drops fields that it does not know.
    again = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert again == manifest, f"only {again} is known of {manifest}"
    print(manifest["metadata"]["name"])
"""


def test_keda_and_the_prometheus_operator_accept_them() -> None:
    """In its own process: importing the large generated models takes much memory."""
    pytest.importorskip("cloudcoil.models.keda", reason="`make lint-deployment` brings it")
    kinds = "ScaledObject|TriggerAuthentication|ServiceMonitor"
    manifests = rendered("production", kinds)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _KNOWN],
        input=yaml.safe_dump_all(manifests),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(manifests)
