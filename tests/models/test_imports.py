"""Importing a service is quick: what takes long to import is imported when it is opened."""

import subprocess
import sys

import pytest

HEAVY = {"aiohttp", "fastembed", "numpy", "onnxruntime", "simpleeval", "xllamacpp"}


@pytest.mark.parametrize(
    "module",
    [
        "fourtier.models.completion.service",
        "fourtier.models.embeddings.service",
        "fourtier.agents.react_mem.service",
    ],
)
def test_importing_a_service_imports_no_heavy_library(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert HEAVY & set(ran.stdout.split()) == set()
