"""CONTRIBUTING.md is true to the letter: its `weather` service is built from it and asked."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

PAGE = Path("CONTRIBUTING.md")
ROOTS = ("schema", "services", "flows")
_BLOCK = re.compile(r"^`([\w./]+)`:\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TOML = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)

#: What whoever follows the page does last: run a flow that has the service, and ask it.
ASK = """
import asyncio
from pathlib import Path

from fourtier.client import client_on
from fourtier.flows.model import parse_flow
from fourtier.flows.plan import process_plan
from fourtier.runtime.process.flow_process import flow_process
from fourtier.runtime.settings import Settings
from fourtier.schema.weather import ASK_WEATHER, AskWeatherRequest


async def main() -> None:
    flow = parse_flow(Path("flow.yaml").read_text(), "flow.yaml")
    plan = process_plan(flow, Settings(data=Path("data"), bus_port=0, health_port=0))
    async with flow_process(plan) as process, client_on(process.bus) as client:
        question = AskWeatherRequest(user="ann", city="Bergen")
        print((await client.caller.call(ASK_WEATHER, question)).report)


asyncio.run(main())
"""


def section() -> str:
    page = PAGE.read_text("utf-8")
    return page[page.index("## How to add a service") : page.index("## Tests wait")]


def files_of_the_page() -> Iterator[tuple[str, str]]:
    for match in _BLOCK.finditer(section()):
        yield match[1], match[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the sources with what the page says added to it, and nothing else."""
    for root in ROOTS:
        shutil.copytree(root, tmp_path / root, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files_of_the_page():
        file = tmp_path / name
        assert not file.exists(), f"{name} is there already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    install(tmp_path)
    services = yaml.safe_load(_YAML.findall(section())[0])["services"]
    flow = {"name": "weather", "bus": {"url": "embedded", "port": 0}, "services": services}
    (tmp_path / "flow.yaml").write_text(yaml.safe_dump(flow), "utf-8")
    return tmp_path


def install(checkout: Path) -> None:
    """The entry points of pyproject.toml and of the page, as an installed package has them."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    added = tomllib.loads(_TOML.findall(section())[0])["project"]["entry-points"]
    lines = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {value}" for name, value in (entries | added.get(group, {})).items()]
    info = checkout / "installed" / f"fourtier-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: fourtier\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run(checkout: Path, *command: str) -> str:
    paths = [*(str(checkout / root) for root in ROOTS), str(checkout / "installed")]
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *command],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_service_of_the_page_answers_over_the_bus(checkout: Path) -> None:
    assert run(checkout, "-c", ASK).strip() == "It rained 12 inch in Bergen."


def test_the_command_line_knows_the_service_of_the_page(checkout: Path) -> None:
    command = "from fourtier.interfaces.cli.main import app; app()"

    assert "weather.ask" in run(checkout, "-c", command, "topics", "--json")
    assert "is fine" in run(checkout, "-c", command, "flow", "check", "flow.yaml")


def test_the_page_touches_no_other_file() -> None:
    touched = {name for name, _ in files_of_the_page()}

    assert touched == {
        "schema/fourtier/schema/weather.py",
        "services/fourtier/memory/weather/__init__.py",
        "services/fourtier/memory/weather/service.py",
    }


@pytest.mark.slow
def test_the_code_of_the_page_passes_the_type_checker(checkout: Path) -> None:
    service = checkout / "services/fourtier/memory/weather/service.py"
    config = checkout / "mypy.ini"
    roots = ",".join(str(checkout / root) for root in ROOTS)
    config.write_text(
        f"[mypy]\nstrict = true\nmypy_path = {roots}\nnamespace_packages = true\n"
        "explicit_package_bases = true\nfollow_imports = silent\nignore_missing_imports = true\n"
        "plugins = pydantic.mypy\n"
    )

    run(checkout, "-m", "mypy", "--config-file", str(config), str(service))
