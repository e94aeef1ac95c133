"""A server as a child process, which can be stopped, killed and started again."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

_GUARD = Path(__file__).with_name("guard.py")
#: Nobody waits for it where all is well; nine services at once on two processors take long.
_STARTS_WITHIN = 150.0


class Server:
    """One process, run through a guard, so that it never outlives us."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        is_up: Callable[[], Awaitable[bool]],
    ) -> None:
        self.name = name
        self._command = command
        self._log = log
        self._is_up = is_up
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(_GUARD),
            str(self._log),
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                while not await self._is_up():
                    if self._process.returncode is not None:
                        raise RuntimeError(f"{self.name} ended at once:\n{self._tail()}")
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise RuntimeError(f"{self.name} does not answer:\n{self._tail()}") from None

    @property
    def pid(self) -> int:
        """Of the command, which the guard has started."""
        assert self._process is not None, f"{self.name} does not run"
        guard = self._process.pid
        children = Path(f"/proc/{guard}/task/{guard}/children").read_text("utf-8").split()
        return int(children[0])

    def signal(self, number: int) -> None:
        """Send a signal to the command."""
        os.kill(self.pid, number)

    async def stop(self) -> None:
        """End it in peace; nothing where it does not run."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()
            self._process = None

    async def ended(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        assert self._process is not None, f"{self.name} does not run"
        code = await self._process.wait()
        self._process = None
        return code

    async def kill(self) -> None:
        """End it with -9."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            self._process = None

    def _tail(self) -> str:
        return "".join(self._log.read_text("utf-8", "replace").splitlines(keepends=True)[-30:])
