"""Pulsar standalone and Neo4j Community, started from Maven artefacts for as long as asked."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from tests.cluster.jars import jars, java
from tests.cluster.server import Server
from tests.support.ports import free_port

_HOST = "127.0.0.1"
_HERE = Path(__file__).parent

#: For servers that run for minutes on a machine with other work: no second compiler, one thread
#: that collects garbage. First answers of Neo4j came within one second instead of five. One that
#: has no memory left ends, so that tests fail at once: else each waits for it in vain.
_SHORT_LIVED = [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx512m",
    "-XX:+ExitOnOutOfMemoryError",
]

#: Packages of the JDK that Pulsar opens by reflection.
_OPENS = [
    f"--add-opens={package}=ALL-UNNAMED"
    for package in (
        "java.base/java.io",
        "java.base/java.lang",
        "java.base/java.nio",
        "java.base/java.util.zip",
        "java.base/jdk.internal.loader",
        "java.base/jdk.internal.misc",
        "java.base/jdk.internal.platform",
        "java.base/sun.net",
        "java.management/sun.management",
        "jdk.management/com.sun.management.internal",
    )
]

_PULSAR_CONF = """\
brokerServicePort={port}
webServicePort={admin_port}
bindAddress=127.0.0.1
advertisedAddress=127.0.0.1
clusterName=standalone
managedLedgerDefaultEnsembleSize=1
managedLedgerDefaultWriteQuorum=1
managedLedgerDefaultAckQuorum=1
# The bookie inside would listen on all interfaces.
listeningInterface=lo
allowLoopback=true
# Tests delete what they leave.
forceDeleteNamespaceAllowed=true
"""


@dataclass(frozen=True)
class Running:
    """Where the engines are, and their processes for tests that kill them."""

    pulsar: Server
    pulsar_url: str
    pulsar_admin_url: str
    neo4j: Server
    neo4j_url: str
    neo4j_urls: Sequence[str]


@asynccontextmanager
async def running_engines(directory: Path, graphs: int = 1) -> AsyncGenerator[Running]:
    """Start all at once; their data is below `directory`, and they end with this context.

    Args:
        directory: for data and logs.
        graphs: how many Neo4j servers.

    Raises:
        MissingToolError: Java or Maven is missing.
    """
    command = java()
    port, admin_port = free_port(), free_port()
    bolt_ports = [free_port() for _ in range(graphs)]
    pulsar_url, admin_url = f"pulsar://{_HOST}:{port}", f"http://{_HOST}:{admin_port}"
    pulsar = Server(
        "Pulsar",
        _pulsar_command(command, directory / "pulsar", port, admin_port),
        directory / "pulsar.log",
        lambda: _is_healthy(admin_url),
    )
    several = [
        Server(
            "Neo4j",
            _neo4j_command(command, directory / f"neo4j-{number}", bolt_port),
            directory / f"neo4j-{number}.log",
            partial(_is_open, bolt_port),
        )
        for number, bolt_port in enumerate(bolt_ports)
    ]
    urls = [f"bolt://{_HOST}:{bolt_port}" for bolt_port in bolt_ports]
    servers = [pulsar, *several]
    try:
        await asyncio.gather(*(server.start() for server in servers))
        yield Running(pulsar, pulsar_url, admin_url, several[0], urls[0], urls)
    finally:
        await asyncio.gather(*(server.stop() for server in servers))


def _pulsar_command(
    command: str, directory: Path, port: int, admin_port: int, settings: Mapping[str, str] = {}
) -> list[str]:
    """Start Pulsar; `settings` are those of its standalone.conf, for broker and bookie."""
    directory.mkdir(parents=True)
    conf = directory / "standalone.conf"
    more = "".join(f"{name}={value}\n" for name, value in settings.items())
    conf.write_text(_PULSAR_CONF.format(port=port, admin_port=admin_port) + more)
    return [
        command,
        *_SHORT_LIVED,
        "-XX:MaxDirectMemorySize=256m",
        *_OPENS,
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-cp",
        jars("pulsar"),
        "org.apache.pulsar.PulsarStandaloneStarter",
        "--config",
        str(conf),
        "--no-functions-worker",
        "--no-stream-storage",
        "--metadata-dir",
        str(directory / "metadata"),
        "--bookkeeper-dir",
        str(directory / "bookkeeper"),
    ]


def _neo4j_command(
    command: str, directory: Path, port: int, settings: Mapping[str, str] = {}
) -> list[str]:
    """Start Neo4j; `settings` are those of its neo4j.conf."""
    source = _HERE / "neo4j" / "Neo4jServer.java"
    conf = directory.with_name(f"{directory.name}.conf")
    conf.parent.mkdir(parents=True, exist_ok=True)
    conf.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    server = [str(source), str(directory), str(port), str(conf)]
    return [command, *_SHORT_LIVED, "-cp", jars("neo4j"), *server]


async def _is_healthy(admin_url: str) -> bool:
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{admin_url}/admin/v2/brokers/health") as answer,
        ):
            return answer.status == 200
    except aiohttp.ClientError:
        return False


async def _is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(_HOST, port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
