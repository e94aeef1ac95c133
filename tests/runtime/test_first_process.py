"""The command as the first process of a container, to which the kernel gives no signal unasked."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import FOURTIER
from tests.support.waiting import wait_until

_NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


def _can_be_first() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*_NAMESPACE, "true"], check=False, capture_output=True)  # noqa: S603
    return tried.returncode == 0


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8"))


@pytest.mark.skipif(
    sys.platform != "linux" or not _can_be_first(), reason="this system gives no PID namespaces"
)
@pytest.mark.parametrize("command", ["doctor --flow cluster", "serve cluster facts"])
async def test_sigterm_ends_it_while_it_waits_for_the_bus(command: str) -> None:
    asked = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1")
    port = silent.sockets[0].getsockname()[1]
    async with silent:
        process = await asyncio.create_subprocess_exec(
            *_NAMESPACE,
            FOURTIER,
            *command.split(),
            env=os.environ | {"FOURTIER_BUS_URL": f"pulsar://127.0.0.1:{port}"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await wait_until(asked.is_set)
        os.kill(_child_of(process.pid), signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
