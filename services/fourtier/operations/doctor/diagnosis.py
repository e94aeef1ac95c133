"""What `fourtier doctor` looks at: a flow from the outside, as its clients and operators see it."""

import asyncio
import time
from collections.abc import Collection
from importlib.metadata import version

from fourtier.engines.config import EngineConfig, resolve_engines
from fourtier.engines.opening import graph_version, vectors_version
from fourtier.flows.model import Flow, read_flow
from fourtier.flows.plan import DEFAULT_DATA, engines_of
from fourtier.flows.provisioning import admin_config, bus_needs
from fourtier.operations.backlogs import Queue, read_queues
from fourtier.operations.doctor.bus import check_bus
from fourtier.operations.doctor.findings import Finding, checked
from fourtier.operations.doctor.queues import Judging, findings_of
from fourtier.runtime.settings import Settings, read_settings


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
    stores, backlogs = await asyncio.gather(
        _stores(
            resolve_engines(engines_of(flow, settings), settings, settings.data or DEFAULT_DATA)
        ),
        checked(
            "queues",
            _queues(flow, settings, Judging(name, old_after, at=time.time()), queues),
            "see whether Pulsar runs; look from where its admin API can be reached, as for "
            f"`fourtier init {name}`",
        ),
    )
    bus, answers, dead_letters = await check_bus(flow, name, settings, queues)
    stores = [_seen_by_services(finding, answers.stores) for finding in stores]
    return [_ourselves(), bus, *stores, *answers.findings, *dead_letters, *backlogs]


def _ourselves() -> Finding:
    found = f"fourtier {version('fourtier')}, Pulsar's client {version('pulsar-client')}"
    return Finding(what="this program", well=True, found=found)


async def _stores(config: EngineConfig) -> list[Finding]:
    """Which stores there are, as far as they can be reached from here."""

    async def graph() -> list[Finding]:
        found = f"{await graph_version(config)}, {config.graph_url}"
        return [Finding(what="graph", well=True, found=found)]

    async def vectors() -> list[Finding]:
        found = f"{await vectors_version(config)}, {config.vectors_url}"
        return [Finding(what="vectors", well=True, found=found)]

    found = await asyncio.gather(
        checked(
            "graph",
            graph(),
            "see whether the server runs, and whether engines.graph or FOURTIER_GRAPH_URL, "
            "FOURTIER_GRAPH_USER and FOURTIER_GRAPH_PASSWORD are right",
        ),
        checked(
            "vectors",
            vectors(),
            "see whether the server runs, and whether engines.vectors or FOURTIER_VECTORS_URL, "
            "and FOURTIER_VECTORS_KEY are right",
        ),
    )
    return [finding for findings in found for finding in findings]


def _seen_by_services(finding: Finding, reached: Collection[str]) -> Finding:
    """A store that cannot be reached from here, as from a pod of another service, may be well."""
    if finding.well or finding.what not in reached:
        return finding
    found = f"its services reach it. Not from here: {finding.found}"
    return Finding(what=finding.what, well=True, found=found)


async def _queues(
    flow: Flow, settings: Settings, judging: Judging, queues: list[Queue]
) -> list[Finding]:
    """What waits; what was read is put into `queues` for those who look at the services."""
    config = admin_config(flow, settings)
    if config is None:
        found = "unknown: the embedded bus has no admin API"
        return [Finding(what="queues", well=True, found=found)]
    queues += await read_queues(config, bus_needs(flow))
    return findings_of(queues, judging)
