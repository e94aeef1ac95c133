"""The command as the first process of a container, to which the kernel gives no signal unasked."""

import asyncio
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.runtime.rpc.support import listening, no_answer
from tests.support.process import FOURTIER
from tests.support.waiting import wait_until

pytestmark = pytest.mark.processes

_NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skip where the system gives none."""
    if shutil.which("unshare") is not None:
        tried = subprocess.run([*_NAMESPACE, "true"], check=False, capture_output=True)  # noqa: S603
        if tried.returncode == 0:
            return
    pytest.skip("this system gives no PID namespaces")


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8"))


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("command", ["doctor --flow cluster", "serve cluster facts"])
async def test_sigterm_ends_it_while_it_waits_for_the_bus(command: str) -> None:
    asked = asyncio.Event()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await no_answer(reader, writer)

    async with listening(broker) as address:
        process = await asyncio.create_subprocess_exec(
            *_NAMESPACE,
            FOURTIER,
            *command.split(),
            env=os.environ | {"FOURTIER_BUS_URL": f"pulsar://{address}"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await wait_until(asked.is_set)
        os.kill(_child_of(process.pid), signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
