"""The commands and examples of k8s/README.md work as they are written there."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from fourtier.flows.model import parse_flow
from tests.deployment.deployment_files import (
    SERVICES,
    Yaml,
    component,
    container,
    run,
)


@pytest.fixture
def manifests(tmp_path: Path) -> list[Yaml]:
    """The overlay of the section "Add a flow", rendered."""
    for folder in ("k8s", "flows", "deploy"):
        shutil.copytree(folder, tmp_path / folder)
    overlay = tmp_path / "k8s/overlays/sales"
    overlay.mkdir()
    readme = Path("k8s/README.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(namespace: sales\n.*?)```", readme, re.DOTALL)
    values = "[FOURTIER_BUS_ADMIN_URL=https://pulsar:8443]"
    text = example.replace("[...]", values)
    (overlay / "kustomization.yaml").write_text(text, "utf-8")
    shutil.copy("k8s/overlays/production/network.yaml", overlay)
    flow = Path("flows/fourtier/flows/cluster.yaml").read_text("utf-8")
    sales = flow.replace("name: cluster\n", "name: sales\n").replace(
        "namespace: cluster\n", "namespace: sales\n"
    )
    (overlay / "flow.yaml").write_text(sales, "utf-8")
    return list(yaml.safe_load_all(run("kubectl", "kustomize", str(overlay))))


def test_another_flow_has_its_own_namespaces_and_topics(manifests: list[Yaml]) -> None:
    (namespace,) = [each for each in manifests if each["kind"] == "Namespace"]
    assert namespace["metadata"]["name"] == "sales"
    assert {each["metadata"].get("namespace") for each in manifests} == {None, "sales"}
    deployments = [each for each in manifests if each["kind"] == "Deployment"]
    assert {component(each) for each in deployments} == SERVICES
    version = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["version"]
    images = {container(each["spec"]["template"])["image"] for each in deployments}
    assert images == {f"fourtier:{version}"}
    (flow,) = [
        each["data"]["flow.yaml"]
        for each in manifests
        if each["metadata"]["name"].startswith("fourtier-flow-")
    ]
    assert parse_flow(flow, "sales").namespace == "sales"
    topics = [
        trigger["metadata"]["topic"]
        for each in manifests
        if each["kind"] == "ScaledObject"
        for trigger in each["spec"]["triggers"]
        if trigger["type"] == "pulsar"
    ]
    assert topics
    assert all(topic.startswith("persistent://fourtier/sales/") for topic in topics)
