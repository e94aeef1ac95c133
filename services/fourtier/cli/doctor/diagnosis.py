"""What `fourtier doctor` looks at: a flow from the outside, as its clients and operators see it."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from fourtier.cli.connection import reachable_bus
from fourtier.cli.doctor.findings import Finding, looked_at
from fourtier.cli.doctor.letters import read_letters
from fourtier.cli.doctor.services import ask_services
from fourtier.cli.doctor.waiting import Judging, findings_of
from fourtier.engines.opening import graph_version, vectors_version
from fourtier.engines.places import EnginePlace, place_of
from fourtier.flows.model import Flow, read_flow
from fourtier.flows.plan import DEFAULT_DATA, bus_place, engines_of
from fourtier.flows.provisioning import admin_place, bus_needs
from fourtier.runtime.backlogs import Queue, read_queues, read_version
from fourtier.runtime.burial import dead_letter_address
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.greeting import greet
from fourtier.runtime.bus.opening import BusPlace
from fourtier.runtime.bus.pulsar import Patience, connect_pulsar
from fourtier.runtime.calls import open_caller
from fourtier.runtime.errors import FourtierError, StartupError
from fourtier.runtime.settings import Settings, read_settings

#: Nobody waits half a minute to hear that a broker does not answer.
_PATIENCE = Patience(send=5.0, operation=8)


async def diagnose(name: str, old_after: float) -> list[Finding]:
    """Look at a flow. Every part that cannot be reached is one line, and holds up no other.

    Args:
        name: of a shipped flow, or a flow file.
        old_after: seconds after which a message that is not acknowledged is a problem.

    Raises:
        FlowError: there is no such flow.
        StartupError: the environment cannot be used.
    """
    flow, settings = read_flow(name), read_settings()
    queues: list[Queue] = []
    stores, waiting = await asyncio.gather(
        _stores(place_of(engines_of(flow, settings), settings, settings.data or DEFAULT_DATA)),
        looked_at(
            "queues",
            _queues(flow, settings, Judging(name, old_after), queues),
            "see whether Pulsar runs and its admin API can be reached from here",
        ),
    )
    on_the_bus = await _on_the_bus(flow, name, settings, queues)
    return [_ourselves(), *on_the_bus[:1], *stores, *on_the_bus[1:], *waiting]


def _ourselves() -> Finding:
    found = f"fourtier {version('fourtier')}, Pulsar's client {version('pulsar-client')}"
    return Finding(what="this program", well=True, found=found)


async def _stores(place: EnginePlace) -> list[Finding]:
    """Which stores there are, as far as they can be reached from here."""

    async def graph() -> list[Finding]:
        found = f"{await graph_version(place)}, {place.graph_url}"
        return [Finding(what="graph", well=True, found=found)]

    async def vectors() -> list[Finding]:
        found = f"{await vectors_version(place)}, {place.vectors_url}"
        return [Finding(what="vectors", well=True, found=found)]

    found = await asyncio.gather(
        looked_at(
            "graph",
            graph(),
            "see whether the server runs, and whether engines.graph or FOURTIER_GRAPH_URL, "
            "FOURTIER_GRAPH_USER and FOURTIER_GRAPH_PASSWORD are right",
        ),
        looked_at(
            "vectors",
            vectors(),
            "see whether the server runs, and whether engines.vectors or FOURTIER_VECTORS_URL, "
            "and FOURTIER_VECTORS_KEY are right",
        ),
    )
    return [finding for findings in found for finding in findings]


async def _queues(
    flow: Flow, settings: Settings, judging: Judging, queues: list[Queue]
) -> list[Finding]:
    """What waits; what was read is put into `queues` for those who look at the services."""
    place = admin_place(flow, settings)
    if place is None:
        found = "cannot be told: the embedded bus has no admin API"
        return [Finding(what="queues", well=True, found=found)]
    queues += await read_queues(place, bus_needs(flow))
    return findings_of(queues, judging)


async def _on_the_bus(
    flow: Flow, name: str, settings: Settings, queues: Sequence[Queue]
) -> list[Finding]:
    """The bus, and behind it the services and what they could not handle."""
    try:
        place = reachable_bus(flow, settings)
        called = await _name_of(place, flow, settings)
        connecting = connect_pulsar(
            place.url,
            place.tenant,
            place.namespace,
            security=place.security,
            log_file=os.devnull,
            patience=_PATIENCE,
        )
        async with connecting as bus, open_caller(bus) as caller:
            services, letters = await asyncio.gather(
                ask_services(caller, name, list(flow.services), _replicas(queues)),
                read_letters(bus, name, _with_letters(flow, queues)),
            )
    except (FourtierError, BusError) as error:
        return [_unreachable(flow, name, settings, error)]
    return [_reached(called, place), *services, *letters]


async def _name_of(place: BusPlace, flow: Flow, settings: Settings) -> str:
    """What the broker calls itself; one that wants to know us first tells it to operators."""
    if name := await greet(place.url, place.security.trust_certificates):
        return name.replace("Pulsar Server", "Pulsar ")
    try:
        admin = admin_place(flow, settings)
        return f"Pulsar {await read_version(admin)}" if admin else "a broker without a name"
    except StartupError:  # the line of the queues says why
        return "a broker that does not tell us its version"


def _reached(called: str, place: BusPlace) -> Finding:
    where = f"{place.tenant}/{place.namespace} at {place.url}"
    return Finding(what="bus", well=True, found=f"{called}, {where}")


def _unreachable(flow: Flow, name: str, settings: Settings, error: Exception) -> Finding:
    remedy = f"start the flow: `fourtier up {name}`"
    if bus_place(flow, settings).url != "embedded":
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


def _with_letters(flow: Flow, queues: Sequence[Queue]) -> list[str]:
    """Services whose dead letters can be read; to read what is not there would make it."""
    missing = {queue.topic for queue in queues if not queue.exists}
    return [each for each in flow.services if dead_letter_address(each).name not in missing]
