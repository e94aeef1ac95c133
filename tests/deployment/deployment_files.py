"""The files of the deployment, read for the tests, and the tools that read them."""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourtier.flows.model import Flow, read_flow
from fourtier.runtime.bus.pulsar.closing import CLOSES_WITHIN
from fourtier.runtime.process import host, telemetry_setup
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.settings import Settings

OVERLAYS = ("laptop", "production")
#: The flow that the image, docker-compose.yaml and k8s/ deploy.
FLOW: Flow = read_flow("cluster")
SERVICES = set(FLOW.services)
#: They run once and end, and use all engines: see k8s/base.
OPERATORS = {"init", "doctor"}
#: The image's user, as the Dockerfile makes it.
USER = 10001

Yaml = dict[str, Any]


def tool(name: str) -> str:
    """A program of the dependency group `deployment`; skips the test where it is not installed."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here: `make lint-deployment` brings it")
    return found


def run(name: str, *arguments: str) -> str:
    """What a tool prints when it succeeds; fails the test with its output when it does not."""
    done = subprocess.run(  # noqa: S603 - a tool of ours on files of ours
        [tool(name), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@cache
def compose() -> Yaml:
    """docker-compose.yaml with its anchors resolved, but not its variables."""
    return yaml.safe_load(Path("docker-compose.yaml").read_text("utf-8"))


def compose_services() -> dict[str, Yaml]:
    """The containers of docker-compose.yaml that run our image: the services and `init`."""
    return {
        name: service
        for name, service in compose()["services"].items()
        if service["image"].startswith("fourtier:")
    }


@cache
def _rendered(overlay: str) -> tuple[Yaml, ...]:
    return tuple(yaml.safe_load_all(run("kubectl", "kustomize", f"k8s/overlays/{overlay}")))


def rendered(overlay: str, kind: str = "") -> list[Yaml]:
    """The manifests that `kubectl apply -k` sends for an overlay; of one kind if it is named."""
    return [each for each in _rendered(overlay) if not kind or re.fullmatch(kind, each["kind"])]


def component(manifest: Yaml) -> str:
    """The service (or operator) that a manifest belongs to."""
    return manifest["metadata"]["labels"]["app.kubernetes.io/component"]


def pods(overlay: str) -> dict[str, Yaml]:
    """The pod templates that run our image, by service; the operators are among them."""
    manifests = rendered(overlay, "Deployment|Job|CronJob")
    return {component(each): _job(each)["spec"]["template"] for each in manifests}


def _job(manifest: Yaml) -> Yaml:
    """The Job that a CronJob creates; of any other kind the manifest itself."""
    return manifest["spec"].get("jobTemplate", manifest)


def container(template: Yaml) -> Yaml:
    """The one container of a pod template."""
    (found,) = template["spec"]["containers"]
    return found


def volumes(template: Yaml) -> dict[str, Yaml]:
    """The volumes of a pod template by their names."""
    return {volume["name"]: volume for volume in template["spec"]["volumes"]}


def environment(overlay: str) -> dict[str, str]:
    """The variables that the ConfigMap of an overlay sets in each container."""
    (found,) = [
        each
        for each in rendered(overlay, "ConfigMap")
        if each["metadata"]["name"].startswith("fourtier-environment-")
    ]
    return found["data"]


def stops_within() -> float:
    """The seconds after which a service has ended, even if broker and collector are unavailable.

    It finishes the messages in flight; then its subscriptions, its producers and its connection to
    the bus are closed one after another, and the last telemetry is sent.
    """
    return host._GRACE + 3 * CLOSES_WITHIN + telemetry_setup._TIMEOUT


def variables() -> set[str]:
    """Every environment variable that the code reads."""
    names = {
        str(field.validation_alias or f"FOURTIER_{name.upper()}")
        for name, field in Settings.model_fields.items()
    }
    return names | {"FOURTIER_SECRETS"}


def uses_graph() -> set[str]:
    """The services that store nodes in the graph, by their classes."""
    return {name for name in SERVICES if load_service(name).stores.graph}


def uses_vectors() -> set[str]:
    """The services that store vectors, by their classes."""
    return {name for name in SERVICES if load_service(name).stores.collections}


def uses_model() -> set[str]:
    """The services in whose folders the key of the model's endpoint is read."""
    folders = {
        name: Path("services", *load_service(name).__module__.split(".")[:-1]) for name in SERVICES
    }
    return {
        name
        for name, folder in folders.items()
        for file in folder.rglob("*.py")
        if "secret(settings.model_key)" in file.read_text("utf-8")
    }
