"""What makes a service in k8s/: a kustomization of its own, and a ScaledObject of KEDA."""

from collections.abc import Mapping, Sequence
from typing import Any

from fourtier.operations.deployment.declared import DeployedService
from fourtier.operations.deployment.documents import Text, documents, dumped

_KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
#: By this label k8s/components/autoscaling finds the triggers that it completes.
_BY_BACKLOG = {"fourtier/scales-by": "backlog"}


def service_list(services: Sequence[DeployedService]) -> str:
    """The kustomization that lists the folders of all services."""
    return dumped(_KUSTOMIZATION | {"resources": sorted(each.name for each in services)})


def kustomization(service: DeployedService) -> str:
    """The kustomization in the folder of one service: what it has that others have not."""
    components = [f"../../../components/uses-{engine}" for engine in service.uses]
    return dumped(
        _KUSTOMIZATION
        | {"resources": ["../../service"]}
        | ({"components": components} if components else {})
        | {
            "nameSuffix": f"-{service.name}",
            "labels": [
                {
                    "includeSelectors": True,
                    "pairs": {"app.kubernetes.io/component": service.name},
                }
            ],
            "patches": [
                {"target": {"kind": "Deployment"}, "patch": Text(dumped(_operations(service)))}
            ],
        }
    )


def _operations(service: DeployedService) -> list[dict[str, Any]]:
    """How the Deployment that all services share becomes that of one, as a JSON patch."""
    container = "/spec/template/spec/containers/0"
    profile = service.profile
    resources = {
        "requests": {"cpu": profile.cpu, "memory": profile.memory},
        # No limit of the processor: it would slow down urgent work while cores are idle.
        "limits": {"memory": profile.memory_limit},
    }
    return [
        {"op": "add", "path": f"{container}/args/-", "value": service.name},
        {"op": "add", "path": f"{container}/resources", "value": resources},
    ]


def scaled_objects(services: Sequence[DeployedService]) -> str:
    """A ScaledObject for each service."""
    ordered = sorted(services, key=lambda service: service.name)
    return documents(_scaled_object(each, ordered) for each in ordered)


def _scaled_object(
    service: DeployedService, services: Sequence[DeployedService]
) -> Mapping[str, Any]:
    name = f"fourtier-{service.name}"
    drivers = [each for each in services if service.name in each.profile.drives]
    triggers = [_backlog(each, topic) for each in [service, *drivers] for topic in each.topics]
    labels = {"labels": _BY_BACKLOG} if triggers else {}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name} | labels,
        "spec": {
            "scaleTargetRef": {"name": name},
            "minReplicaCount": service.profile.min_replicas,
            "maxReplicaCount": service.profile.max_replicas,
            "triggers": triggers or [_processor(service)],
        },
    }


def _backlog(service: DeployedService, topic: str) -> dict[str, Any]:
    return {
        "type": "pulsar",
        "metadata": {
            "topic": f"persistent://TENANT/NAMESPACE/{topic}",
            "subscription": service.name,
            "msgBacklogThreshold": str(service.profile.backlog_per_replica),
        },
    }


def _processor(service: DeployedService) -> dict[str, Any]:
    return {
        "type": "cpu",
        "metricType": "Utilization",
        "metadata": {"value": str(service.profile.cpu_percent)},
    }
