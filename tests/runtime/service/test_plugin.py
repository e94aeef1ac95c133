"""A service of another package, as docs/services.md builds it: it is provisioned and it works."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Generator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.flows.model import read_flow
from fourtier.flows.plan import process_plan
from fourtier.flows.provisioning import bus_needs
from fourtier.operations.doctor.diagnosis import diagnose
from fourtier.operations.flow_check import check_flow
from fourtier.operations.provisioning import provision
from fourtier.operations.topics import list_topics
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.flow_process import FlowProcess, flow_process
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.service.registry import load_service, service_names
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import GraphSchema
from fourtier.runtime.settings import Settings
from fourtier.schema.message import Scope
from tests.cluster.servers import SERVERS
from tests.support.process import FOURTIER
from tests.support.qdrant import shared_qdrant
from tests.support.waiting import wait_until

PAGE = Path("docs/services.md").read_text("utf-8")
_CODE = re.compile(r"^`rain_plugin/(\w+\.py)`:\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FLOW = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ENTRY_POINT = re.compile(
    r"^```toml\n\[project\.entry-points\.\"([\w.]+)\"\]\n(\w+) = \"([\w.:]+)\"", re.MULTILINE
)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A directory with an installed package, as pip leaves it: its modules and its entry point."""
    site = tmp_path / "site"
    package, metadata = site / "rain_plugin", site / "rain_plugin-1.0.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    (package / "__init__.py").touch()
    for match in _CODE.finditer(PAGE):
        (package / match[1]).write_text(match[2])
    (entry_point,) = _ENTRY_POINT.finditer(PAGE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: rain-plugin\nVersion: 1.0\n")
    group, name, value = entry_point.groups()
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    with pytest.raises(StartupError, match="no service 'rain'"):
        load_service("rain")
    monkeypatch.syspath_prepend(str(site))
    yield site
    for name in [name for name in sys.modules if name.startswith("rain_plugin")]:
        del sys.modules[name]


@pytest.fixture
def flow(tmp_path: Path) -> str:
    file = tmp_path / "rain.yaml"
    (flow,) = _FLOW.findall(PAGE)
    file.write_text(flow)
    return str(file)


def messages() -> Any:
    return import_module("rain_plugin.messages")


@pytest.mark.usefixtures("plugin")
def test_its_topics_are_listed_and_provisioned(flow: str) -> None:
    assert "rain" in service_names()
    assert {(row.topic, row.kind) for row in list_topics(["rain"])} == {
        ("rain.ask", "call"),
        ("rain.erase", "call"),
        ("rain.fell", "event"),
        ("rain.status", "call"),
        ("flow.services", "call"),
    }
    needs = bus_needs(read_flow(flow))
    assert needs.groups == {"rain.erase": ["rain"], "rain.fell": ["rain"]}
    assert needs.dead_letters["dead-letters.rain"] == ["operator"]


async def test_a_service_whose_stores_forgetting_does_not_reach_is_named(
    flow: str, plugin: Path
) -> None:
    assert not [each for each in check_flow(read_flow(flow)) if "forgetting" in each]
    for name in [name for name in sys.modules if name.startswith("rain_plugin")]:
        del sys.modules[name]
    file = plugin / "rain_plugin/service.py"
    file.write_text(file.read_text().replace('    @answer(erasure("rain"))\n', ""))

    (warning,) = [each for each in check_flow(read_flow(flow)) if "forgetting" in each]

    assert warning.startswith("services.rain: it has stores and handles no rain.erase")


@pytest.mark.usefixtures("plugin")
async def test_its_collections_are_provisioned(flow: str, tmp_path: Path) -> None:
    async with shared_qdrant() as url:
        settings = Settings(data=tmp_path, bus_url="memory://", vectors_url=url)
        made = await provision(read_flow(flow), settings, dry_run=False)

    made_vectors = [each for each in made if each.engine == "vectors" and each.state == "made"]
    assert "rain-remarks" in made_vectors[0].what


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
            await store.write(None, Statement("DROP CONSTRAINT rainreading_id IF EXISTS"))
            await store.write(None, Statement("DROP INDEX rainreading_scope IF EXISTS"))

    states = [each.state for each in made if "RainReading" in each.what]
    assert states == ["made", "made"]  # the key, and the index of the scope
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
        await forget_what_bob_read(process)
        findings = {finding.what: finding for finding in await diagnose(flow, 60)}

    assert (tmp_path / "data/rain/graph.lbug").is_file()
    assert findings["rain"].well
    assert findings["rain"].found.startswith("answers in")
    assert findings["stores of rain"].found == "2 readings in the graph"


#: Who read the gauge, where, how much, and what was remarked.
READ = [
    ("ann", "Oslo", 7, "A thunderstorm flooded the harbour."),
    ("ann", "Oslo", 5, "Drizzle all day, nobody needed an umbrella."),
    ("bob", "Oslo", 90, "The gauge was broken by a flood."),
]


async def let_it_rain(process: FlowProcess) -> None:
    known = messages()
    async with open_caller(process.bus) as caller:
        for user, city, millimetres, remark in READ:
            fell = known.RainFell(user=user, city=city, millimetres=millimetres, remark=remark)
            await caller.publish(known.RAIN_FELL, fell)

        async def asked(user: str, question: str) -> Any:
            request = known.AskRainRequest(user=user, city="Oslo", question=question)
            return await caller.call(known.ASK_RAIN, request)

        async def fallen(user: str, millimetres: int) -> bool:
            return bool((await asked(user, "rain")).millimetres == millimetres)

        await wait_until(partial(fallen, "ann", 12))
        await wait_until(partial(fallen, "bob", 90))
        answered = await asked("ann", "Was there a storm?")
        assert answered.remarks == (READ[0][3], READ[1][3])  # and no word of bob's


async def forget_what_bob_read(process: FlowProcess) -> None:
    bob = Scope("bob", "default")
    async with client_on(process.bus) as client:
        would = await client.forget.everything(bob, dry_run=True)
        assert {name: part.number for name, part in would.others.items()} == {"rain": 1}
        assert await client.forget.everything(bob) == would
        assert (await client.forget.everything(bob)).number == 0
