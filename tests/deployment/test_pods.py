"""A pod of k8s/ has the rights that it needs and no others, and enough time to stop."""

from pathlib import Path

import pytest

from fourtier.runtime.settings import Settings
from tests.deployment.deployment_files import (
    OPERATORS,
    OVERLAYS,
    USER,
    Yaml,
    component,
    container,
    pods,
    rendered,
    stops_within,
    uses_graph,
    uses_model,
    uses_vectors,
    volumes,
)
from tests.deployment.dockerfile import stages

pytestmark = pytest.mark.parametrize("overlay", OVERLAYS)


def _secrets(template: Yaml) -> dict[str, bool]:
    """The secrets that are mounted as files, each with whether it is optional."""
    sources = volumes(template)["secrets"]["projected"]["sources"]
    return {
        item["path"]: source["secret"].get("optional", False)
        for source in sources
        if "secret" in source
        for item in source["secret"]["items"]
    }


def test_the_code_reads_the_mounted_secrets(
    overlay: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = {name for template in pods(overlay).values() for name in _secrets(template)}
    for name in mounted:
        (tmp_path / name).write_text("secret", "utf-8")
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("FOURTIER_SECRETS", str(tmp_path))
    assert len(mounted) == len(Settings().model_fields_set)


def test_each_pod_has_only_the_secrets_that_it_uses(overlay: str) -> None:
    named = {name: _secrets(template) for name, template in pods(overlay).items()}
    with_graph = {name for name, files in named.items() if "fourtier_graph_password" in files}
    with_vectors = {name for name, files in named.items() if "fourtier_vectors_key" in files}
    with_model = {name for name, files in named.items() if "openai_api_key" in files}
    assert with_graph == uses_graph() | OPERATORS
    assert with_vectors == uses_vectors() | OPERATORS
    assert with_model == uses_model()
    for files in named.values():
        missing = {name for name, optional in files.items() if not optional}
        assert missing <= {"fourtier_graph_user", "fourtier_graph_password"}


def test_a_stop_leaves_time_to_finish_the_messages_in_flight(overlay: str) -> None:
    for manifest in rendered(overlay, "Deployment"):
        template = manifest["spec"]["template"]
        pause = container(template)["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert template["spec"]["terminationGracePeriodSeconds"] > pause + stops_within()


def test_replicas_of_one_service_are_spread_over_nodes_and_zones(overlay: str) -> None:
    for manifest in rendered(overlay, "Deployment"):
        spread = manifest["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert {each["topologyKey"] for each in spread} == {
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        }
        for each in spread:
            labels = each["labelSelector"]["matchLabels"]
            assert labels["app.kubernetes.io/component"] == component(manifest)


def test_pods_have_no_privileges(overlay: str) -> None:
    for template in pods(overlay).values():
        spec, runs = template["spec"], container(template)
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        assert spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert runs["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} == set(runs["resources"]["requests"])
        assert {"memory"} == set(runs["resources"]["limits"])


def test_the_folder_that_the_image_writes_to_is_writable(overlay: str) -> None:
    home = stages()[-1].environment()["HOME"]
    for template in pods(overlay).values():
        mounts = {each["mountPath"]: each for each in container(template)["volumeMounts"]}
        assert "emptyDir" in volumes(template)[mounts.pop(home)["name"]]
        assert all(mount["readOnly"] for mount in mounts.values())


def test_everything_is_in_one_restricted_namespace(overlay: str) -> None:
    (namespace,) = rendered(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    names = {each["metadata"].get("namespace") for each in rendered(overlay)}
    assert names == {None, namespace["metadata"]["name"]}
