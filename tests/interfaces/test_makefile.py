"""`make` in a fresh clone without a network: one line that says what it needs."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here"),
]
#: Nobody listens there.
NOWHERE = "http://127.0.0.1:9/simple"


async def make(clone: Path, target: str) -> tuple[int, list[str]]:
    offline = {"PIP_INDEX_URL": NOWHERE, "UV_DEFAULT_INDEX": NOWHERE, "PIP_CONFIG_FILE": os.devnull}
    inherited = {
        # `make test` tells the make below it that it is one.
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("PIP_", "UV_", "MAKE", "MFLAGS"))
    }
    process = await asyncio.create_subprocess_exec(
        "make",
        target,
        cwd=clone,
        env=inherited | offline,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode().splitlines()


async def test_without_a_network_make_says_what_it_needs_in_one_line(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy(name, tmp_path / name)

    code, lines = await make(tmp_path, "run")

    assert code == 2
    said = [line for line in lines if "needs a network" in line]
    assert len(said) == 1
    assert not any("Retrying" in line or "WARNING" in line for line in lines)
    assert len(lines) == 3  # what it sets up, what it needs, and make's own error


async def test_the_list_of_targets_needs_nothing(tmp_path: Path) -> None:
    shutil.copy("Makefile", tmp_path / "Makefile")
    code, lines = await make(tmp_path, "help")
    assert code == 0
    assert any(line.startswith("run ") for line in lines)
