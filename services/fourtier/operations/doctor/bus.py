"""The bus, and behind it the services and their dead letters."""

import asyncio
import os
from collections.abc import Mapping, Sequence

from fourtier.flows.model import Flow
from fourtier.flows.plan import bus_config
from fourtier.flows.provisioning import admin_config
from fourtier.operations.backlogs import Queue, read_version
from fourtier.operations.connection import reachable_bus
from fourtier.operations.doctor.dead_letters import check_dead_letters
from fourtier.operations.doctor.findings import Finding
from fourtier.operations.doctor.services import ServiceAnswers, ask_services
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.opening import BusConfig
from fourtier.runtime.bus.pulsar.connection import Timeouts, connect_pulsar
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.errors import FourtierError, StartupError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.settings import Settings

#: Shorter than in use: half a minute is too long to learn that a broker does not answer.
_TIMEOUTS = Timeouts(send=5.0, operation=8)


async def check_bus(
    flow: Flow, name: str, settings: Settings, queues: Sequence[Queue]
) -> tuple[Finding, ServiceAnswers, list[Finding]]:
    """The bus, what the services on it answer, and the dead letters."""
    try:
        config = reachable_bus(flow, settings)
        called = await _name_of(config, flow, settings)
        connecting = connect_pulsar(
            config.url,
            config.tenant,
            config.namespace,
            security=config.security,
            log_file=os.devnull,
            timeouts=_TIMEOUTS,
        )
        async with connecting as bus, open_caller(bus) as caller:
            answers, dead_letters = await asyncio.gather(
                ask_services(caller, name, flow.services, _replicas(queues)),
                check_dead_letters(bus, name, _with_dead_letters(flow, queues)),
            )
    except (FourtierError, BusError) as error:
        return _unreachable(flow, name, settings, error), ServiceAnswers(), []
    return _reached(called, config), answers, dead_letters


async def _name_of(config: BusConfig, flow: Flow, settings: Settings) -> str:
    """What the broker calls itself; one with authentication says it by its admin API only."""
    security = config.security
    if name := await handshake(config.url, security.trust_certificates, security.token):
        return name.replace("Pulsar Server", "Pulsar ")
    try:
        admin = admin_config(flow, settings)
        return f"Pulsar {await read_version(admin)}" if admin else "a broker without a name"
    except StartupError:  # the line of the queues says why
        return "a broker of unknown version"


def _reached(called: str, config: BusConfig) -> Finding:
    where = f"{config.tenant}/{config.namespace} at {config.url}"
    return Finding(what="bus", well=True, found=f"{called}, {where}")


def _unreachable(flow: Flow, name: str, settings: Settings, error: Exception) -> Finding:
    remedy = f"start the flow: `fourtier up {name}`"
    if bus_config(flow, settings).url != "embedded":
        remedy = (
            f"see whether the broker runs, and bus.url, FOURTIER_BUS_TOKEN and "
            f"FOURTIER_BUS_TRUST_CERTIFICATES; `fourtier init {name}` makes a missing namespace"
        )
    return Finding(what="bus", well=False, found=str(error), remedy=remedy)


def _replicas(queues: Sequence[Queue]) -> Mapping[str, Sequence[str]]:
    """The versions of each service's replicas: each of them is on all of its queues."""
    longest: dict[str, Sequence[str]] = {}
    for queue in queues:
        if len(queue.versions) > len(longest.get(queue.group, ())):
            longest[queue.group] = queue.versions
    return longest


def _with_dead_letters(flow: Flow, queues: Sequence[Queue]) -> list[str]:
    """Services whose dead-letter queue exists; to read a missing one would create it."""
    missing = {queue.topic for queue in queues if not queue.exists}
    return [each for each in flow.services if dead_letter_address(each).name not in missing]
