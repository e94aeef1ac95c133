"""The doctor in the deployment: started by hand, with access to everything that it checks."""

import asyncio
import re
import shlex
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.deployment.deployment_files import (
    OVERLAYS,
    compose,
    compose_services,
    container,
    environment,
    pods,
    rendered,
    volumes,
)
from tests.deployment.test_commands import VALUES
from tests.deployment.test_manifests import FLOW_FILE
from tests.runtime.rpc.support import Answering, listening
from tests.support.process import FOURTIER

PAGES = [Path(name).read_text("utf-8") for name in ("docs/operating.md", "k8s/README.md")]
COMPOSE_FILE = Path("docker-compose.yaml").read_text("utf-8")
#: The engines that it checks, with the schemes of their URLs.
ENGINES = {"bus": "pulsar", "bus_admin": "http", "graph": "bolt", "vectors": "http"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_it_runs_once_each_time_it_is_started(overlay: str) -> None:
    (manifest,) = rendered(overlay, "CronJob")
    assert manifest["spec"]["suspend"] is True
    assert manifest["spec"]["concurrencyPolicy"] == "Forbid"
    job = manifest["spec"]["jobTemplate"]["spec"]
    assert job["backoffLimit"] == 0
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    for page in PAGES:
        (start,) = re.findall(
            r"^kubectl -n (\S+) create job (\S+) --from=(\S+)$", page, re.MULTILINE
        )
        namespace, name, source = start
        assert namespace == manifest["metadata"]["namespace"]
        assert source == f"cronjob/{manifest['metadata']['name']}"
        assert f"kubectl -n {namespace} logs -f job/{name}\n" in page


async def test_its_pod_connects_to_every_engine(tmp_path: Path) -> None:
    """With the command and environment of the laptop's manifest, and its files in other folders."""
    template = pods("laptop")["doctor"]
    runs = container(template)
    flow, secrets = tmp_path / "flow.yaml", tmp_path / "secrets"
    (content,) = [
        each["data"]["flow.yaml"]
        for each in rendered("laptop", "ConfigMap")
        if each["metadata"]["name"] == volumes(template)["flow"]["configMap"]["name"]
    ]
    flow.write_text(content, "utf-8")
    secrets.mkdir()
    for source in volumes(template)["secrets"]["projected"]["sources"]:
        for item in source.get("secret", {"items": []})["items"]:
            (secrets / item["path"]).write_text("a-secret", "utf-8")
    given = environment("laptop") | {each["name"]: each["value"] for each in runs["env"]}
    arguments = [str(flow) if each == FLOW_FILE else each for each in runs["args"]]
    await _connects_to_every_engine(arguments, given | {"FOURTIER_SECRETS": str(secrets)})


async def test_compose_runs_it_where_it_reaches_every_engine() -> None:
    (command,) = re.findall(r"^docker compose run (.*)$", PAGES[0], re.MULTILINE)
    assert f"docker compose run {command}\n" in COMPOSE_FILE
    *options, name, program, flow, which = shlex.split(command)
    assert options == ["--rm", "--no-deps"]  # or it starts engines that are down
    assert not any("networks" in service for service in compose()["services"].values())
    given = {
        variable: str(VALUES.get(variable, value))
        for variable, value in compose_services()[name]["environment"].items()
    }
    await _connects_to_every_engine([program, flow, which], given)


async def _connects_to_every_engine(arguments: list[str], given: dict[str, str]) -> None:
    """Run the command against servers that close each connection at once."""
    called: set[str] = set()

    def hang_up(engine: str) -> Answering:
        async def answer(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            called.add(engine)

        return answer

    async with AsyncExitStack() as stack:
        urls = {
            f"FOURTIER_{engine.upper()}_URL": f"{scheme}://"
            + await stack.enter_async_context(listening(hang_up(engine)))
            for engine, scheme in ENGINES.items()
        }
        process = await asyncio.create_subprocess_exec(
            FOURTIER,
            *arguments,
            env=given | urls | {"PATH": str(Path(sys.executable).parent)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, log = await process.communicate()
    print(said.decode(), log.decode())  # noqa: T201 - shown by pytest when the test fails
    assert process.returncode == 1
    assert called == set(ENGINES)
    wrong = set(re.findall(r"^ *no +(\w+)", said.decode(), re.MULTILINE))
    assert wrong == {"bus", "graph", "vectors", "queues"}
