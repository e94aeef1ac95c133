"""The libraries of the embedded engines live in one process, whichever is loaded first."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

OPEN_GRAPH = """
import asyncio, pathlib, tempfile
from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.runtime.service.stores.schemas import GraphSchema

async def opened():
    with tempfile.TemporaryDirectory() as folder:
        async with open_ladybug(pathlib.Path(folder) / "graph", GraphSchema(nodes=[])) as graph:
            assert await graph.read(None, "RETURN 1 AS one") == [{"one": 1}]

asyncio.run(opened())
"""
LOAD_MODEL_SERVER = "import xllamacpp; xllamacpp.CommonParams()\n"


@pytest.mark.parametrize(
    "program", [OPEN_GRAPH + LOAD_MODEL_SERVER, LOAD_MODEL_SERVER + OPEN_GRAPH]
)
def test_the_graph_and_the_model_server_load_in_either_order(program: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own two programs
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
