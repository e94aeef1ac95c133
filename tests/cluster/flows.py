"""The engines of a test's flow: as the test says, or the real ones when these are asked for."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neo4j import AsyncGraphDatabase

from tests.cluster.pulsar_admin import create_namespace, delete_namespace
from tests.cluster.servers import SERVERS

TENANT = "fourtier"
#: The namespaces that were made for flows and are still there.
_MADE: set[str] = set()


@dataclass(frozen=True)
class FlowTarget:
    """The bus, namespace and settings of a flow, for `running_flow`."""

    bus: str
    namespace: str
    settings: Mapping[str, Any]


async def flow_target(
    data: Path, bus: str, namespace: str, settings: Mapping[str, Any]
) -> FlowTarget:
    """The engines that a test asked for, or those of the cluster.

    There each data directory has a namespace of its own, and the graph is emptied when that is new:
    a flow that is started again, in this process or another, finds what it left. Vectors stay
    embedded, for there is no Qdrant to start.
    """
    if not SERVERS.flows or SERVERS.pulsar_url is None or SERVERS.pulsar_admin_url is None:
        return FlowTarget(bus, namespace, settings)
    own = f"{namespace}-{hashlib.sha256(str(data).encode()).hexdigest()[:12]}"
    if await create_namespace(SERVERS.pulsar_admin_url, TENANT, own):
        _MADE.add(own)
        await empty_graph()
    graph = {"graph_url": SERVERS.neo4j_url} if SERVERS.neo4j_url else {}
    return FlowTarget(SERVERS.pulsar_url, own, {**settings, **graph})


async def delete_namespaces() -> None:
    """Delete what flows left on the broker: the sixty topics of each stay in its memory."""
    while _MADE and SERVERS.pulsar_admin_url is not None:
        await delete_namespace(SERVERS.pulsar_admin_url, TENANT, _MADE.pop())


async def empty_graph() -> None:
    """Delete what flows before left in the one database that Neo4j Community has."""
    if SERVERS.neo4j_url:
        async with AsyncGraphDatabase.driver(SERVERS.neo4j_url) as driver:
            await driver.execute_query("MATCH (n) DETACH DELETE n")
