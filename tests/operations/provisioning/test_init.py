"""`fourtier init` as a user meets it: what it prints, and what it never does."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from fourtier.interfaces.cli import main
from tests.operations.provisioning.standin import failing, in_thread, standing_in

TOKEN, PASSWORD, KEY = "t0ken-of-ours", "passw0rd-of-ours", "k3y-of-ours"
Command = Callable[..., tuple[int, str]]

FLOW = """
name: shop
tenant: acme
namespace: prod
bus: {url: "pulsar://127.0.0.1:9", admin-url: "http://127.0.0.1:9"}
engines: {graph: embedded, vectors: embedded}
services: {facts: {}}
"""


@pytest.fixture
def flow(tmp_path: Path) -> str:
    file = tmp_path / "shop.yaml"
    file.write_text(FLOW)
    return str(file)


@pytest.fixture
def fourtier(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process; its exit code and all that it printed."""
    monkeypatch.setenv("COLUMNS", "200")
    secrets = {"BUS_TOKEN": TOKEN, "GRAPH_USER": "neo4j", "GRAPH_PASSWORD": PASSWORD}
    for name, value in (secrets | {"VECTORS_KEY": KEY}).items():
        monkeypatch.setenv(f"FOURTIER_{name}", value)

    def run(*arguments: str, **environment: str) -> tuple[int, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["fourtier", *arguments])
        code = main._run()
        printed = capsys.readouterr()
        everything = printed.out + printed.err
        assert not any(secret in everything for secret in (TOKEN, PASSWORD, KEY))
        return code, everything

    return run


def one_line(said: str) -> str:
    """An error as it is printed: one line, no traceback."""
    assert said.count("\n") == 1, said
    return said


def test_a_laptop_needs_nothing(fourtier: Command) -> None:
    code, said = fourtier("init", "laptop")
    assert code == 0
    assert said.count("nothing is to be done") == 3
    assert said.endswith("3 is there.\n")


def test_a_laptop_needs_nothing_as_json(fourtier: Command) -> None:
    code, said = fourtier("init", "laptop", "--dry-run", "--json")
    assert code == 0
    note = "nothing is to be done: made at the start"
    assert json.loads(said) == [
        {"engine": engine, "what": "embedded", "state": "is there", "note": note}
        for engine in ("bus", "graph", "vectors")
    ]


async def answer_as_empty(request: web.Request) -> web.StreamResponse:
    """A cluster of Pulsar where nothing is there, and nothing is taken."""
    if request.method != "GET":
        return web.Response(status=500, text="it was a dry run")
    if request.path.endswith("/clusters"):
        return web.json_response(["standalone"])
    return web.json_response({"reason": "does not exist"}, status=404)


async def test_a_dry_run_prints_the_plan_and_changes_nothing(fourtier: Command, flow: str) -> None:
    async with standing_in(answer_as_empty) as server:
        code, said = await in_thread(
            lambda: fourtier("init", flow, "--dry-run", FOURTIER_BUS_ADMIN_URL=server.url)
        )
    assert code == 0, said
    assert {method for method, _ in server.asked} == {"GET"}
    assert server.tokens[0] == f"Bearer {TOKEN}"
    lines = {" ".join(line.split()) for line in said.splitlines()}
    assert "bus tenant acme would be made" in lines
    assert "bus namespace acme/prod would be made" in lines
    assert "bus topic facts.store would be made for facts" in lines
    assert "bus topic dead-letters.facts would be made for operator; 90 days" in lines
    assert "11 would be made, 2 is there." in lines


async def test_what_is_planned_is_made(fourtier: Command, flow: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return (
            web.Response(status=204) if request.method != "GET" else await answer_as_empty(request)
        )

    async with standing_in(answer) as server:
        code, said = await in_thread(
            lambda: fourtier("init", flow, FOURTIER_BUS_ADMIN_URL=server.url)
        )
    assert code == 0, said
    assert said.endswith("11 made, 2 is there.\n")
    changed = [path for method, path in server.asked if method != "GET"]
    assert changed[:2] == ["/admin/v2/tenants/acme", "/admin/v2/namespaces/acme/prod"]
    assert "/admin/v2/persistent/acme/prod/facts.store/subscription/facts" in changed


async def test_a_server_that_repeats_the_token_does_not_make_us_print_it(
    fourtier: Command, flow: str
) -> None:
    for status, said_so in ((401, "rejects GET"), (403, "rejects GET"), (500, "[secret]")):
        async with standing_in(failing(status, f"no: Bearer {TOKEN}")) as server:
            code, said = await in_thread(
                lambda: fourtier("init", flow, FOURTIER_BUS_ADMIN_URL=server.url)
            )
        assert code == 2
        assert said_so in one_line(said)


def test_an_unreachable_broker_is_one_line(fourtier: Command, flow: str) -> None:
    code, said = fourtier("init", flow)
    assert code == 2
    assert "Pulsar's admin API cannot be reached at http://127.0.0.1:9" in one_line(said)


def test_a_broker_without_its_admin_address_is_one_line(fourtier: Command, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(FLOW.replace(', admin-url: "http://127.0.0.1:9"', ""))
    code, said = fourtier("init", str(file))
    assert code == 2
    assert "bus.admin-url" in one_line(said)


def test_nothing_is_made_on_one_server_when_another_cannot_be_reached(
    fourtier: Command, flow: str
) -> None:
    code, said = fourtier("init", flow, FOURTIER_GRAPH_URL="bolt://127.0.0.1:9")
    assert code == 2
    assert "the graph at bolt://127.0.0.1:9 cannot be used" in one_line(said)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")
def test_an_unreachable_vector_store_is_one_line(fourtier: Command, flow: str) -> None:
    code, said = fourtier("init", flow, FOURTIER_VECTORS_URL="http://127.0.0.1:9")
    assert code == 2
    assert "the vector store at http://127.0.0.1:9 cannot be used" in one_line(said)


def test_a_wrong_parameter_is_reported_before_anything_is_done(
    fourtier: Command, tmp_path: Path
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(FLOW.replace("facts: {}", "facts: {colour: red}"))
    code, said = fourtier("init", str(file))
    assert code == 2
    assert "services.facts.colour" in one_line(said)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FOURTIER_GRAPH_URL", f"bolt://neo4j:{PASSWORD}@127.0.0.1:9"),
        ("FOURTIER_BUS_ADMIN_URL", f"http://me:{TOKEN}@127.0.0.1:9"),
        ("FOURTIER_VECTORS_URL", f"http://me:{KEY}@127.0.0.1:9"),
    ],
)
def test_credentials_in_an_address_are_rejected_and_not_printed(
    fourtier: Command, flow: str, variable: str, value: str
) -> None:
    code, said = fourtier("init", flow, **{variable: value})
    assert code == 2
    assert f"{variable}: " in one_line(said)
    assert "cannot hold a user or a password" in said
