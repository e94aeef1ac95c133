"""A flow as a process of its own, started by the command, so that it can be killed."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fourtier.client import Client, connect
from fourtier.runtime.bus.embedded.access_token import read_token
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.running import read_running
from tests.support.waiting import wait_until

FOURTIER = str(Path(sys.executable).with_name("fourtier"))


@dataclass
class FlowCommand:
    """A flow file, a data directory and the processes that `fourtier` makes of them."""

    flow: Path
    data: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What the processes see: room for what they print, and ports of their own."""
        return os.environ | {
            "COLUMNS": "200",
            "FOURTIER_DATA": str(self.data),
            "FOURTIER_BUS_PORT": str(self.port),
            "FOURTIER_HEALTH_PORT": "0",
        }

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        """Start `fourtier ARGUMENTS`."""
        return await asyncio.create_subprocess_exec(
            FOURTIER,
            *arguments,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def run(self, *arguments: str) -> tuple[int, str]:
        """Run `fourtier ARGUMENTS` to its end; the exit code and what it printed."""
        process = await self.start(*arguments)
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode()

    @asynccontextmanager
    async def up(self) -> AsyncGenerator[asyncio.subprocess.Process]:
        """The flow, once it is up; ended at the end, unless it was killed before."""
        process = await self.start("up", str(self.flow))
        try:
            await wait_until(lambda: self._is_up(process), within=120)
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            output, _ = await process.communicate()
            print(output.decode())  # noqa: T201 - shown by pytest when the test fails

    def _is_up(self, process: asyncio.subprocess.Process) -> bool:
        assert process.returncode is None, "the flow ended as soon as it was started"
        try:
            return read_running(self.data).pid == process.pid
        except StartupError:
            return False

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        """A client of the running flow."""
        running = read_running(self.data)
        async with connect(
            running.bus_url,
            tenant=running.tenant,
            namespace=running.namespace,
            token=read_token(self.data / "bus"),
        ) as client:
            yield client
