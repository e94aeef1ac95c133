"""The commands and examples of k8s/README.md work as they are written there."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from fourtier.flows.model import parse_flow
from tests.deployment.deployment_files import (
    OVERLAYS,
    SERVICES,
    Yaml,
    component,
    container,
    rendered,
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


def test_the_files_that_it_names_exist() -> None:
    readme = Path("k8s/README.md").read_text("utf-8")
    named = re.findall(r"`((?:k8s|flows|deploy|base|components|overlays)/[\w./-]+)`", readme)
    named = [path for path in named if "sales" not in path and "NAME" not in path]
    assert len(named) > 3
    for path in named:
        assert Path(path).exists() or Path("k8s", path).exists(), path


def test_the_job_is_deleted_before_manifests_are_compared_or_applied() -> None:
    """Kubernetes does not change an existing Job, and `kubectl diff` fails on one."""
    readme = Path("k8s/README.md").read_text("utf-8")
    (steps,) = re.findall(r"## Roll out\n.*?```\n(.*?)```", readme, re.DOTALL)
    verbs = re.findall(r"\b(delete job|diff|apply)\b", steps)
    assert verbs == ["delete job", "diff", "apply"]
    (name,) = re.findall(r"delete job (\S+)", steps)
    for overlay in OVERLAYS:
        assert [each["metadata"]["name"] for each in rendered(overlay, "Job")] == [name]


def test_the_namespace_is_created_from_its_manifest_by_programs_that_everybody_has() -> None:
    """Made by `kubectl create`, it lacks the annotation of `kubectl apply`, which then warns."""
    readme = Path("k8s/README.md").read_text("utf-8")
    blocks = "".join(re.findall(r"```\n(.*?)```", readme, re.DOTALL))
    assert "kubectl apply -f k8s/base/namespace.yaml\n" in blocks
    assert "create namespace" not in blocks
    assert not re.search(r"^kustomize", blocks, re.MULTILINE)  # kubectl does not bring it
