"""The example of docs/wire.md runs as it is written."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from fourtier.client import client_on
from fourtier.runtime.bus.opening import BusConfig
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, scripted_model
from tests.support.ports import free_port

pytestmark = pytest.mark.embedded

USUAL = str(BusConfig("embedded", "", "", Path()).port)


def example(port: int, data: Path) -> str:
    """The one Python block of the page, with a free port and the data directory of the test."""
    (block,) = re.findall(
        r"```python\n(.*?)```", Path("docs/wire.md").read_text("utf-8"), re.DOTALL
    )
    assert block.count(USUAL) == 1
    assert block.count(".fourtier/") == 1
    return str(block).replace(USUAL, str(port)).replace(".fourtier/", f"{data}/")


async def test_the_example_of_the_wire_page_runs_as_it_is_written(tmp_path: Path) -> None:
    port = free_port()

    def budget(_request: ModelRequest) -> Says:
        return Says("10,000 dollars.")

    async with (
        scripted_model(script=budget) as model,
        running_flow(
            tmp_path,
            ROAD,
            bus="embedded",
            namespace="laptop",
            settings=model.settings | {"bus_port": port},
        ) as flow,
        client_on(flow.bus) as client,
    ):
        await client.facts.store(
            Scope("ann", "default"), "My budget for the trip is 10,000 dollars", speaker="ann"
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", example(port, tmp_path), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()

    lines = output.decode().splitlines()
    assert process.returncode == 0
    assert "answer 10,000 dollars." in lines
    assert "used facts My budget for the trip is 10,000 dollars" in lines
