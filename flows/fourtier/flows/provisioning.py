"""From a flow and the environment to what its servers must have before it starts."""

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from fourtier.engines.config import resolve_engines
from fourtier.engines.opening import open_provisioners
from fourtier.flows.model import Flow
from fourtier.flows.parameters import parameters_of
from fourtier.flows.plan import DEFAULT_DATA, bus_config, engines_of
from fourtier.runtime.bus.pulsar.admin import AdminConfig
from fourtier.runtime.bus.pulsar.provisioning import BusNeeds, provision_bus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.provisioning import NothingToDo, Provisioner
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address
from fourtier.runtime.service.engines import EMBEDDED
from fourtier.runtime.service.registry import declared_handlers, load_service
from fourtier.runtime.settings import Settings, secret

_WITHOUT_SERVER = {EMBEDDED, "memory://"}


@asynccontextmanager
async def provisioners(flow: Flow, settings: Settings) -> AsyncGenerator[list[Provisioner]]:
    """Connect to what the flow's services need: bus, graph and vectors, in this order.

    Raises:
        FlowError: a service is unknown or has a wrong parameter.
        StartupError: a server cannot be reached or does not let us in.
    """
    for service in flow.services:
        parameters_of(flow, service)  # a flow that cannot start needs nothing
    config = resolve_engines(engines_of(flow, settings), settings, settings.data or DEFAULT_DATA)
    stores = [load_service(service).stores for service in flow.services]
    async with AsyncExitStack() as stack:
        bus = await _bus(stack, flow, settings)
        yield [bus, *await stack.enter_async_context(open_provisioners(config, stores))]


def bus_needs(flow: Flow) -> BusNeeds:
    """The subscriptions of the flow's services to every persistent topic that they handle."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for service, handler in declared_handlers(flow.services):
        if handler.topic.persistent:
            groups[handler.topic.name].append(service)
    return BusNeeds(
        tenant=flow.tenant,
        namespace=flow.namespace,
        groups=groups,
        dead_letters={dead_letter_address(each).name: [OPERATOR] for each in flow.services},
        retention=flow.bus.topics,
    )


async def _bus(stack: AsyncExitStack, flow: Flow, settings: Settings) -> Provisioner:
    config = admin_config(flow, settings)
    if config is None:
        return NothingToDo("bus", bus_config(flow, settings).url)
    return await stack.enter_async_context(provision_bus(config, bus_needs(flow)))


def admin_config(flow: Flow, settings: Settings) -> AdminConfig | None:
    """Where the admin API of the flow's Pulsar is; None where its bus has none.

    Raises:
        StartupError: nobody says where it is.
    """
    if bus_config(flow, settings).url in _WITHOUT_SERVER:
        return None
    admin_url = settings.bus_admin_url or flow.bus.admin_url
    if not admin_url:
        raise StartupError(
            f"the flow {flow.name} does not say where Pulsar's admin API is: write "
            f"bus.admin-url, or set FOURTIER_BUS_ADMIN_URL, such as http://HOST:8080"
        )
    return AdminConfig(admin_url, secret(settings.bus_token), settings.bus_trust_certificates)
