"""A service of another package: whatever reads the declarations of services knows it too."""

import asyncio
import json
import os
import sys
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.engines.graph.protocol import Statement
from fourtier.flows.model import read_flow
from fourtier.flows.plan import process_plan
from fourtier.flows.provisioning import bus_needs
from fourtier.operations.doctor.diagnosis import diagnose
from fourtier.operations.provisioning import provision
from fourtier.operations.topics import list_topics
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.flow_process import FlowProcess, flow_process
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.service.registry import load_service, service_names
from fourtier.runtime.service.stores import GraphSchema
from fourtier.runtime.settings import Settings
from tests.cluster.servers import SERVERS
from tests.support.process import FOURTIER
from tests.support.qdrant import shared_qdrant
from tests.support.waiting import wait_until

MESSAGES = """
from fourtier.schema.message import Answer, Scoped
from fourtier.schema.topics import Topic, by_scope, query

class AskRainRequest(Scoped):
    city: str

class AskRainResponse(Answer):
    millimetres: int

class RainFell(Scoped):
    city: str
    millimetres: int

ASK_RAIN = query("rain.ask", AskRainRequest, AskRainResponse)
RAIN_FELL = Topic("rain.fell", RainFell, key=by_scope)
"""
SERVICE = """
from collections import Counter
from contextlib import asynccontextmanager

from fourtier.runtime.service import (
    Collection, Fields, GraphSchema, Node, Parameters, Service, Stores, answer, on,
)
from fourtier.schema.status import StoreCount
from rain_plugin.messages import ASK_RAIN, RAIN_FELL, AskRainResponse

class RainParameters(Parameters):
    factor: int = 1

class RainService(Service):
    name = "rain"
    parameters = RainParameters
    stores = Stores(
        graph=GraphSchema((Node("RainGauge", {"id": "STRING"}),)),
        collections=(Collection("rain-reports", Fields(["city"]), dimensions=4),),
    )

    def __init__(self, factor):
        self._factor = factor
        self._fallen = Counter()

    @classmethod
    @asynccontextmanager
    async def open(cls, context, parameters):
        yield cls(parameters.factor)

    async def store_counts(self):
        return [StoreCount(store="graph", kind="gauges", number=len(self._fallen))]

    @on(RAIN_FELL)
    async def note(self, event):
        self._fallen[event.city] += event.millimetres * self._factor

    @answer(ASK_RAIN)
    async def ask(self, request):
        return AskRainResponse(millimetres=self._fallen[request.city])
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A directory with an installed package, as pip leaves it: its modules and its entry point."""
    site = tmp_path / "site"
    package, metadata = site / "rain_plugin", site / "rain_plugin-1.0.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    (package / "__init__.py").touch()
    (package / "messages.py").write_text(MESSAGES)
    (package / "service.py").write_text(SERVICE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: rain-plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[fourtier.services]\nrain = rain_plugin.service:RainService\n"
    )
    with pytest.raises(StartupError, match="no service 'rain'"):
        load_service("rain")
    monkeypatch.syspath_prepend(str(site))
    yield site
    for name in [name for name in sys.modules if name.startswith("rain_plugin")]:
        del sys.modules[name]


@pytest.fixture
def flow(tmp_path: Path) -> str:
    file = tmp_path / "rain.yaml"
    file.write_text(
        dedent("""
            name: rain
            namespace: rain
            services:
              rain: {factor: 2}
        """)
    )
    return str(file)


def messages() -> Any:
    return import_module("rain_plugin.messages")


@pytest.mark.usefixtures("plugin")
def test_its_topics_are_listed_and_provisioned(flow: str) -> None:
    assert "rain" in service_names()
    assert {(row.topic, row.kind) for row in list_topics(["rain"])} == {
        ("rain.ask", "call"),
        ("rain.fell", "event"),
        ("rain.status", "call"),
    }
    needs = bus_needs(read_flow(flow))
    assert needs.groups == {"rain.fell": ["rain"]}
    assert needs.dead_letters == {"dead-letters.rain": ["operator"]}


@pytest.mark.usefixtures("plugin")
async def test_its_collections_are_provisioned(flow: str, tmp_path: Path) -> None:
    async with shared_qdrant() as url:
        settings = Settings(data=tmp_path, bus_url="memory://", vectors_url=url)
        made = await provision(read_flow(flow), settings, dry_run=False)

    made_vectors = [each for each in made if each.engine == "vectors" and each.state == "made"]
    assert "rain-reports" in made_vectors[0].what


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server")
@pytest.mark.usefixtures("plugin")
async def test_its_nodes_are_provisioned(flow: str, tmp_path: Path) -> None:
    url = SERVERS.neo4j_url or ""
    settings = Settings(data=tmp_path, bus_url="memory://", graph_url=url)
    try:
        made = await provision(read_flow(flow), settings, dry_run=False)
        again = await provision(read_flow(flow), settings, dry_run=False)
    finally:
        async with open_neo4j(url, GraphSchema([]), user=None, password=None) as store:
            await store.write(None, Statement("DROP CONSTRAINT raingauge_id IF EXISTS"))

    assert [each.state for each in made if "RainGauge" in each.what] == ["made"]
    assert "made" not in {each.state for each in again if each.engine == "graph"}


async def test_the_command_lists_its_topics(plugin: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        FOURTIER,
        "topics",
        "--json",
        env=os.environ | {"PYTHONPATH": str(plugin)},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    rows = [row for row in json.loads(output) if row["service"] == "rain"]
    assert {row["topic"] for row in rows} >= {"rain.ask", "rain.fell"}


@pytest.mark.usefixtures("plugin")
async def test_it_runs_in_a_flow_and_the_doctor_finds_it(
    flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURTIER_DATA", str(tmp_path / "data"))
    settings = Settings(data=tmp_path / "data", bus_port=0, health_port=0)
    async with flow_process(process_plan(read_flow(flow), settings)) as process:
        await let_it_rain(process)
        findings = {finding.what: finding for finding in await diagnose(flow, 60)}

    assert findings["rain"].well
    assert findings["rain"].found.startswith("answers in")
    assert findings["stores of rain"].found == "1 gauges in the graph"


async def let_it_rain(process: FlowProcess) -> None:
    known = messages()
    async with open_caller(process.bus) as caller:
        await caller.publish(known.RAIN_FELL, known.RainFell(user="u", city="Oslo", millimetres=7))

        async def fallen() -> bool:
            asked = known.AskRainRequest(user="u", city="Oslo")
            return bool((await caller.call(known.ASK_RAIN, asked)).millimetres == 14)

        await wait_until(fallen)
