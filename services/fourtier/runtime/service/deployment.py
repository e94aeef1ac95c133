"""How a service is deployed on a cluster, declared on its class.

class ForecastService(Service):
    deployment = DeploymentProfile(memory_limit="1Gi", backlog_per_replica=32)
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeploymentProfile:
    """What `make deployment` needs to know beside the handlers and stores of a service.

    A service scales by the backlog of the topics that it handles; one whose topics have no backlog,
    because the broker does not store their messages, scales by its processor.

    Attributes:
        cpu: requested cores, in Kubernetes' notation.
        memory: requested memory, in Kubernetes' notation.
        memory_limit: a container that takes more is stopped.
        min_replicas: at least so many run where replicas are scaled.
        max_replicas: at most so many run.
        backlog_per_replica: messages that may wait on a topic for each replica.
        cpu_percent: of the requested cores, where the processor decides.
        drives: services that do work for each message of this one: they scale by its backlog, too.
        starts_after: services that are ready before this one starts, where the order can be set.
        uses_model: whether it calls the endpoint of the language model, and gets its key.
    """

    cpu: str = "100m"
    memory: str = "128Mi"
    memory_limit: str = "512Mi"
    min_replicas: int = 2
    max_replicas: int = 10
    backlog_per_replica: int = 200
    cpu_percent: int = 70
    drives: Sequence[str] = ()
    starts_after: Sequence[str] = ()
    uses_model: bool = False
