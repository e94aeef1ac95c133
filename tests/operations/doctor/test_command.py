"""`fourtier doctor` as a user sees it: a table with every problem in it, and never a traceback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from fourtier.interfaces.cli import main
from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.embedded.access_token import read_token
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.process.running import read_running
from fourtier.schema.message import Scope
from tests.operations.provisioning.standin import failing, in_thread, standing_in
from tests.runtime.rpc.support import listening, no_answer
from tests.support.ports import free_port
from tests.support.process import FlowCommand
from tests.support.waiting import wait_until

TOKEN, PASSWORD, KEY = "t0ken-of-ours", "passw0rd-of-ours", "k3y-of-ours"
NOBODY = "127.0.0.1:9"
SERVICES: dict[str, Any] = {"embeddings": {}, "facts": {}, "conversations": {}}
Rows = dict[str, dict[str, Any]]
Doctor = Callable[..., tuple[int, Rows]]


async def test_a_flow_that_is_up_is_well_until_something_is_not(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(yaml.safe_dump({"name": "small", "services": SERVICES}), "utf-8")
    command = FlowCommand(file, tmp_path / "data", free_port())
    doctor = ("doctor", "--flow", str(file), "--json")

    down, said = await command.run(*doctor)
    assert down == 1
    bus = rows_of(said)["bus"]
    assert "no flow is running" in bus["found"]
    assert "start the flow" in bus["remedy"]

    async with command.up(), command.client() as client:
        await client.facts.store(Scope("ann", "default"), "I live in Oslo.")
        code, said = await command.run(*doctor)
        rows = rows_of(said)
        assert code == 0, said
        assert "Pulsar-Lite" in rows["bus"]["found"]
        assert "LadybugDB" in rows["graph"]["found"]
        assert "Qdrant Edge" in rows["vectors"]["found"]
        assert rows["stores of facts"]["found"] == "1 facts in the graph, 1 facts in the vectors"
        assert rows["dead letters"]["found"] == "none of 3 services"
        assert "has no admin API" in rows["queues"]["found"]

        await publish_malformed(command.data)
        await wait_until(lambda: has_letters(command))
        code, said = await command.run(*doctor)
        table = await command.run("doctor", "--flow", str(file))
    letters = rows_of(said)["dead letters of facts"]
    assert code == 1
    assert letters["found"].startswith("1, the oldest of 20")
    assert "malformed: is not a valid StoreFactRequest" in letters["found"]
    assert "fourtier dead-letters replay" in letters["remedy"]
    assert table[0] == 1
    assert "dead letters of facts" in table[1]


async def has_letters(command: FlowCommand) -> bool:
    _, said = await command.run("dead-letters", "list", "--flow", str(command.flow), "--json")
    return bool(json.loads(said))


async def publish_malformed(data: Path) -> None:
    running = read_running(data)
    flow = running.bus_url, running.tenant, running.namespace
    security = PulsarSecurity(token=read_token(data / "bus"))
    async with connect_pulsar(*flow, security=security, log_file="/dev/null") as bus:
        await bus.publish(Address("facts.store"), b"{}", key="k")


def rows_of(said: str) -> Rows:
    return {row["what"]: row for row in json.loads(said)}


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    """A flow on a cluster of which nothing can be reached."""
    file = tmp_path / "shop.yaml"
    bus = {"url": f"pulsar://{NOBODY}", "admin-url": f"http://{NOBODY}"}
    engines = {"graph": f"bolt://{NOBODY}", "vectors": f"http://{NOBODY}"}
    content = {"name": "shop", "bus": bus, "engines": engines, "services": SERVICES}
    file.write_text(yaml.safe_dump(content), "utf-8")
    return file


@pytest.fixture
def doctor(
    flow: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Doctor:
    """The command in this process; its exit code and its rows by their names."""
    secrets = {"BUS_TOKEN": TOKEN, "GRAPH_USER": "neo4j", "GRAPH_PASSWORD": PASSWORD}
    for name, value in (secrets | {"VECTORS_KEY": KEY}).items():
        monkeypatch.setenv(f"FOURTIER_{name}", value)

    def run(**environment: str) -> tuple[int, Rows]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["fourtier", "doctor", "--flow", str(flow), "--json"])
        code = main._run()
        printed = capsys.readouterr()
        assert not any(secret in printed.out + printed.err for secret in (TOKEN, PASSWORD, KEY))
        assert printed.err == ""
        return code, rows_of(printed.out)

    return run


pytestmark = pytest.mark.filterwarnings(
    "ignore:Api key is used with an insecure connection:UserWarning"
)


def test_each_part_that_cannot_be_reached_is_one_row_with_a_remedy(doctor: Doctor) -> None:
    code, rows = doctor()
    assert code == 1
    wrong = {what for what, row in rows.items() if not row["well"]}
    assert wrong == {"bus", "graph", "vectors", "queues"}
    assert all(NOBODY in rows[what]["found"] for what in wrong)  # and not "no answer in time"
    assert all(rows[what]["remedy"] for what in wrong)
    assert rows["this program"]["well"]


def test_a_missing_admin_address_is_reported(doctor: Doctor, flow: Path) -> None:
    content = yaml.safe_load(flow.read_text("utf-8"))
    del content["bus"]["admin-url"]
    flow.write_text(yaml.safe_dump(content), "utf-8")
    _, rows = doctor()
    assert not rows["queues"]["well"]
    assert "FOURTIER_BUS_ADMIN_URL" in rows["queues"]["found"]


async def qdrant(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"title": "qdrant", "version": "1.19.3"})


@pytest.mark.parametrize(
    ("answer", "well", "said"),
    [
        (qdrant, True, "Qdrant 1.19.3"),
        (failing(401, f"no: {KEY}"), False, "rejects the key: set FOURTIER_VECTORS_KEY"),
        (failing(500, f"{KEY} and {TOKEN[:3]}"), False, "500"),
    ],
)
async def test_a_vector_server_is_shown_with_its_version_or_its_error(
    doctor: Doctor, answer: Any, said: str, *, well: bool
) -> None:
    async with standing_in(answer) as server:
        _, rows = await in_thread(lambda: doctor(FOURTIER_VECTORS_URL=server.url))
    assert rows["vectors"]["well"] is well
    assert said in rows["vectors"]["found"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing(401, f"no: {TOKEN}"), "set FOURTIER_BUS_TOKEN"),
        (failing(500, f"no: Bearer {TOKEN}"), "[secret]"),
        (failing(404, "Namespace not found"), "what is published is not stored"),
        (qdrant, "is not a Pulsar"),
    ],
)
async def test_an_admin_api_that_fails_is_one_row(doctor: Doctor, answer: Any, said: str) -> None:
    async with standing_in(answer) as server:
        code, rows = await in_thread(lambda: doctor(FOURTIER_BUS_ADMIN_URL=server.url))
    assert code == 1
    row = rows.get("queues") or rows["missing queues"]
    assert said in row["found"]
    assert row["remedy"]


async def test_servers_that_do_not_answer_delay_nothing_for_long(
    doctor: Doctor, flow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourtier.operations.doctor.findings._WITHIN", 0.5)
    monkeypatch.setattr("fourtier.runtime.bus.pulsar.handshake._WITHIN", 0.5)
    async with listening(no_answer) as address:
        change(flow, NOBODY, address)
        code, rows = await in_thread(doctor)
    assert code == 1
    wrong = {what: row["found"] for what, row in rows.items() if not row["well"]}
    assert set(wrong) == {"bus", "graph", "vectors", "queues"}
    assert all("no answer within 0.5 seconds" in found for found in wrong.values())


def change(flow: Path, old: str, new: str) -> None:
    flow.write_text(flow.read_text("utf-8").replace(old, new), "utf-8")
