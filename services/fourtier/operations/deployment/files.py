"""The generated files as a whole: made, compared with those in a checkout, and written there."""

import difflib
import shutil
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from fourtier.flows.model import Flow
from fourtier.operations.deployment import compose, kubernetes
from fourtier.operations.deployment.declared import DeployedService, deployed_services
from fourtier.operations.deployment.documents import dumped, filled
from fourtier.runtime.errors import StartupError

#: The folder whose sub-folders are the services; one that is not generated is left over.
_SERVICES = Path("k8s/base/services")
_NAME = "kustomization.yaml"
_TEMPLATES = files("fourtier.operations.deployment") / "templates"


def generated(flow: Flow) -> Mapping[Path, str]:
    """The content of every generated file, by its path in the repository.

    Raises:
        StartupError: a service of the flow is not installed.
    """
    services = deployed_services(flow)
    return {
        Path("docker-compose.yaml"): _fill(
            "docker-compose.yaml", services=compose.containers(flow.name, services)
        ),
        Path("deploy/prometheus/prometheus.yaml"): _fill(
            "prometheus.yaml", services=dumped(sorted(each.name for each in services))
        ),
        Path("k8s/components/autoscaling/scaled-objects.yaml"): _fill(
            "scaled-objects.yaml", services=kubernetes.scaled_objects(services)
        ),
        _SERVICES / _NAME: _fill("services.yaml", services=kubernetes.service_list(services)),
        **dict(map(_folder, services)),
    }


def _folder(service: DeployedService) -> tuple[Path, str]:
    content = _fill("service.yaml", service=kubernetes.kustomization(service))
    return _SERVICES / service.name / _NAME, content


def _fill(template: str, **parts: str) -> str:
    return filled((_TEMPLATES / template).read_text("utf-8"), parts)


def differences(flow: Flow, root: Path) -> Iterator[str]:
    """What is to be changed in a checkout, as a unified diff; nothing where all is as generated.

    Raises:
        StartupError: a service of the flow is not installed, or `root` is not a checkout.
    """
    wanted = {**generated(flow), **dict.fromkeys(_left_over(flow, root), "")}
    for path, content in wanted.items():
        file = root / path
        present = file.read_text("utf-8") if file.exists() else ""
        yield from difflib.unified_diff(
            present.splitlines(keepends=True),
            content.splitlines(keepends=True),
            f"{path} (present)",
            f"{path} (generated)",
        )


def write(flow: Flow, root: Path) -> None:
    """Write the generated files into a checkout, and remove those of services that are gone.

    Raises:
        StartupError: as `differences`.
    """
    for path in _left_over(flow, root):
        shutil.rmtree((root / path).parent)
    for path, content in generated(flow).items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(content, "utf-8")


def _left_over(flow: Flow, root: Path) -> list[Path]:
    """The files of services that the flow does not have."""
    if not (root / _SERVICES).is_dir():
        raise StartupError(f"{root} has no {_SERVICES}: start this at the top of the repository")
    return [
        file.relative_to(root)
        for file in sorted((root / _SERVICES).glob(f"*/{_NAME}"))
        if file.parent.name not in flow.services
    ]
