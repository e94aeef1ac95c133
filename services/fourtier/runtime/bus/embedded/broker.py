"""The embedded broker: `pulsar-lite` as a child process that never outlives the flow."""

import asyncio
import contextlib
import fcntl
import logging
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.errors import StartupError

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_STARTS_WITHIN = 20.0
_ENDS_WITHIN = 10.0
#: How long the broker of a flow that was killed may take to let go of its files.
_LETS_GO_WITHIN = 15.0
#: Another process may take a free port between looking and using it.
_TRIES_OF_A_FREE_PORT = 3
_PAUSE_BEFORE_RESTART = 1.0
#: Without it the broker would read a file of the working directory, and listen on 0.0.0.0:8080.
_CONFIGURATION = "default_partitions = 0\n\n[metrics]\nenabled = false\n"


@asynccontextmanager
async def embedded_broker(directory: Path, port: int) -> AsyncGenerator[str]:
    """Start a broker that keeps its messages in `directory`; yields its `pulsar://` URL.

    Port 0 takes a free one. The broker is started through a small guard process which ends it when
    this process is gone, however it went. A broker that ends by itself is started again.

    Raises:
        StartupError: the package is missing, the port is in use or the broker did not start.
    """
    broker = _Broker(directory, _binary())
    await broker.start(port)
    watching = asyncio.create_task(broker.keep_up(), name="embedded bus")
    try:
        yield broker.url
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await broker.stop()


def _binary() -> str:
    try:
        from pulsar_lite.binary_finder import find_pulsar_lite_binary

        return str(find_pulsar_lite_binary())
    except (ImportError, FileNotFoundError) as error:
        raise StartupError(
            "the embedded bus needs the package pulsar-lite: install fourtier[laptop], "
            "or name a broker in FOURTIER_BUS_URL"
        ) from error


class _Broker:
    """The broker's process, with the guard around it."""

    def __init__(self, directory: Path, binary: str) -> None:
        self._directory = directory
        self._binary = binary
        self._log = directory / "broker.log"
        self._configuration = directory / "broker.toml"
        self._guard: asyncio.subprocess.Process | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"pulsar://{_HOST}:{self._port}"

    async def start(self, port: int) -> None:
        for attempt in range(1, _TRIES_OF_A_FREE_PORT + 1):
            try:
                await self._start(port)
            except StartupError:
                await self.stop()
                if port or attempt == _TRIES_OF_A_FREE_PORT:
                    raise
            else:
                return

    async def _start(self, port: int) -> None:
        try:
            await asyncio.to_thread(self._prepare)
            lock = os.open(self._directory / "broker.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StartupError(
                f"the directory {self._directory.absolute()} of the embedded bus cannot be used: "
                f"{error.strerror}; name another one in FOURTIER_DATA"
            ) from error
        try:
            await self._wait_for_lock(lock)
            self._port = _usable_port(port)
            self._guard = await self._run_guard(lock)
        finally:
            os.close(lock)  # the guard and the broker have it now
        await self._wait_until_it_answers(self._guard)

    def _prepare(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._configuration.write_text(_CONFIGURATION, encoding="utf-8")

    async def _wait_for_lock(self, lock: int) -> None:
        try:
            async with asyncio.timeout(_LETS_GO_WITHIN):
                while not _lock(lock):  # noqa: ASYNC110 - a lock of the system cannot be awaited
                    await asyncio.sleep(0.02)
        except TimeoutError:
            holder = os.pread(lock, 20, 0).decode(errors="replace") or "unknown"
            raise StartupError(
                f"the embedded bus of another flow, process {holder}, uses "
                f"{self._directory.absolute()}: end it, or name another directory in FOURTIER_DATA"
            ) from None

    async def _run_guard(self, lock: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("guard.py")),
            str(lock),
            str(self._log),
            self._binary,
            "--config",
            str(self._configuration),
            "--addr",
            f"{_HOST}:{self._port}",
            "--db-path",
            str(self._directory / "messages"),
            "--log-level",
            "error",
            stdin=asyncio.subprocess.PIPE,
            pass_fds=[lock],
            start_new_session=True,  # Ctrl-C is for us; the broker ends after its clients
        )

    async def _wait_until_it_answers(self, guard: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                while guard.returncode is None:
                    with contextlib.suppress(BusError):
                        await handshake(self.url)
                        return
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise StartupError(
                f"the embedded bus did not start within {_STARTS_WITHIN:g} seconds: see {self._log}"
            ) from None
        raise StartupError(f"the embedded bus ended as soon as it was started: see {self._log}")

    async def keep_up(self) -> None:
        """Start the broker again whenever it ends; clients connect again by themselves."""
        while True:
            if self._guard is not None:
                status = await self._guard.wait()
                log.error(
                    "The embedded bus ended by itself (status %d) and is started again: see %s.",
                    status,
                    self._log,
                )
            try:
                await self._start(self._port)
            except StartupError as error:
                log.error("The embedded bus could not be started again: %s", error)  # noqa: TRY400 - one line
                await asyncio.sleep(_PAUSE_BEFORE_RESTART)

    async def stop(self) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        if guard.stdin is not None:
            guard.stdin.close()
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                await guard.wait()
        except TimeoutError:
            log.warning("The embedded bus did not end within %g seconds.", _ENDS_WITHIN)
            guard.kill()
            await guard.wait()


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _usable_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise StartupError(
                f"port {port} cannot be used, so the embedded bus cannot listen there "
                f"({error.strerror}): stop what uses it, or choose another port with "
                f"FOURTIER_BUS_PORT (0 takes a free one)"
            ) from error
        return int(probe.getsockname()[1])
