"""The files of a stopped Neo4j, copied elsewhere, are its graph; the vectors of facts follow."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from fourtier.client import Client
from fourtier.runtime.errors import CallFailedError
from tests.cluster import engines
from tests.cluster.jars import java
from tests.cluster.server import Server
from tests.cluster.servers import SERVERS
from tests.operations.running.remembering import ANN, BOB, MOVED, found, remember
from tests.support.ports import free_port
from tests.support.process import FlowCommand

SERVICES = {"embeddings": {}, "facts": {}, "conversations": {}}


@asynccontextmanager
async def flow_on_neo4j(directory: Path, graph: Path) -> AsyncGenerator[tuple[FlowCommand, Client]]:
    """A flow on a Neo4j over the files in `graph`; both are stopped at the end, the flow first."""
    await asyncio.to_thread(directory.mkdir)
    port = free_port()
    server = Server(
        "Neo4j",
        engines._neo4j_command(java(), graph, port),
        directory / "neo4j.log",
        lambda: engines._is_open(port),
    )
    flow = directory / "flow.yaml"
    at = {"graph": f"bolt://127.0.0.1:{port}"}
    flow.write_text(
        yaml.safe_dump({"name": "copied", "engines": at, "services": SERVICES}), "utf-8"
    )
    command = FlowCommand(flow, directory / "data", free_port())
    try:
        await server.start()
        async with command.up(), command.client() as client:
            yield command, client
    finally:
        await server.stop()


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="needs Java and Neo4j: make test-cluster")
@pytest.mark.timeout(300)
async def test_a_copy_of_a_stopped_neo4j_has_it_all(tmp_path: Path) -> None:
    async with flow_on_neo4j(tmp_path / "before", tmp_path / "graph") as (_, client):
        await remember(client)
        facts = await client.facts.list(ANN, include_superseded=True)
        conversation = await client.conversations.get(ANN, "c1")
    shutil.copytree(tmp_path / "graph", tmp_path / "copy")
    shutil.rmtree(tmp_path / "graph")

    async with flow_on_neo4j(tmp_path / "after", tmp_path / "copy") as (command, client):
        assert await client.facts.list(ANN, include_superseded=True) == facts
        assert await client.conversations.get(ANN, "c1") == conversation
        with pytest.raises(CallFailedError, match="fourtier facts reindex"):
            await found(client, ANN)
        code, output = await command.run("facts", "reindex", "--flow", str(command.flow))
        assert code == 0, output
        assert f"{facts.total + 1} facts indexed." in output
        assert MOVED in await found(client, ANN)
        assert await found(client, BOB) == ["I live in Rome"]
        assert not (await client.facts.store(ANN, "I live in Oslo")).created
