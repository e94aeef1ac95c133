"""What the deployment files must know of each service of a flow, read from its class."""

from collections.abc import Sequence
from dataclasses import dataclass

from fourtier.flows.model import Flow
from fourtier.runtime.service import DeploymentProfile
from fourtier.runtime.service.registry import load_service


@dataclass(frozen=True, slots=True)
class DeployedService:
    """A service of a flow, as its deployment sees it.

    Attributes:
        topics: those with a backlog that it handles, by name; its subscription has its own name.
        graph: whether it stores nodes in the graph.
        vectors: whether it stores vectors.
        starts_after: services of the same flow.
    """

    name: str
    topics: Sequence[str]
    graph: bool
    vectors: bool
    starts_after: Sequence[str]
    profile: DeploymentProfile

    @property
    def uses(self) -> Sequence[str]:
        """The engines that it reaches besides the bus: names of `k8s/components/uses-...`."""
        engines = {
            "graph": self.graph,
            "vectors": self.vectors,
            "model": self.profile.uses_model,
        }
        return [engine for engine, used in engines.items() if used]


def deployed_services(flow: Flow) -> Sequence[DeployedService]:
    """The services of a flow, in the order in which the flow names them.

    Raises:
        StartupError: a service is not installed.
    """
    return [_deployed(name, flow) for name in flow.services]


def _deployed(name: str, flow: Flow) -> DeployedService:
    service = load_service(name)
    handled = {handler.topic for handler in service.handlers()}
    return DeployedService(
        name=name,
        topics=sorted(topic.name for topic in handled if topic.persistent),
        graph=service.stores.graph is not None,
        vectors=bool(service.stores.collections),
        starts_after=[other for other in service.deployment.starts_after if other in flow.services],
        profile=service.deployment,
    )
