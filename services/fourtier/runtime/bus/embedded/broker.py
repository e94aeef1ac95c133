"""The embedded broker: `pulsar-lite` as a child process that never outlives the flow."""

import asyncio
import fcntl
import logging
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import stamina

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.embedded import guard
from fourtier.runtime.bus.embedded.access_token import token_in
from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.errors import StartupError

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_STARTS_WITHIN = 20.0
#: The guard gives the broker 5 seconds, and compacts its files then.
_ENDS_WITHIN = 15.0
#: How long the broker of a flow that was killed may take to let go of its files.
_LETS_GO_WITHIN = 15.0
_PAUSE_BEFORE_RESTART = 1.0


@dataclass(frozen=True, slots=True)
class EmbeddedBroker:
    """How clients reach the broker: its `pulsar://` URL and the token that it wants."""

    url: str
    token: str = field(repr=False)


@asynccontextmanager
async def embedded_broker(
    directory: Path, port: int, token: str | None = None, limits: TopicLimits | None = None
) -> AsyncGenerator[EmbeddedBroker]:
    """Start a broker that stores its messages in `directory`.

    Port 0 takes a free one. The broker is started through a small guard process which ends it when
    this process is gone, however it went. A broker that ends by itself is started again.

    Args:
        directory: only its user may look into it.
        port: on the loopback interface.
        token: what clients must show; None takes that of the last start, or makes one.
        limits: of what topics store that nobody acknowledges; what is dropped is logged.

    Raises:
        StartupError: the package is missing, the port is in use or the broker did not start.
    """
    broker = _Broker(directory, _binary(), limits)
    try:
        await broker.start(port, token)
        watching = asyncio.create_task(broker.keep_up(), name="embedded bus")
        try:
            yield EmbeddedBroker(broker.url, broker.token)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    finally:
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

    def __init__(self, directory: Path, binary: str, limits: TopicLimits | None) -> None:
        self._directory = directory
        self._limits = [limits.dump()] if limits else []
        self._binary = binary
        self._log = directory / "broker.log"
        self._guard: asyncio.subprocess.Process | None = None
        self._port = 0
        self.token = ""

    @property
    def url(self) -> str:
        return f"pulsar://{_HOST}:{self._port}"

    async def start(self, port: int, token: str | None) -> None:
        """Start it for the first time; raises StartupError."""
        try:
            await asyncio.to_thread(self._prepare, token)
            is_private = await self._start(port)
        except OSError as error:
            raise StartupError(
                f"the directory {self._directory.absolute()} of the embedded bus cannot be used: "
                f"{error.strerror}; name another one in FOURTIER_DATA"
            ) from error
        if not is_private:
            log.warning(
                "The embedded bus takes messages from every user of this machine: the system does "
                "not allow it a network of its own, so that nobody can check its token."
            )

    async def _start(self, port: int) -> bool:
        """Start the guard; returns whether only those who know the token get in."""
        # Not `filelock`: the guard and the broker inherit this descriptor and with it the lock, so
        # that it is held until the last of them has ended, also when this process is killed.
        lock = os.open(self._directory / "broker.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            await self._wait_for_lock(lock)
            with _listening(port) as listening:
                self._port = int(listening.getsockname()[1])
                self._guard = await self._run_guard(lock, listening.fileno())
        finally:
            os.close(lock)
        return await self._wait_until_it_answers(self._guard)

    def _prepare(self, token: str | None) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory.chmod(0o700)  # it may be of an earlier version
        self.token = token_in(self._directory, token)

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

    async def _run_guard(self, lock: int, listening: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            guard.__name__,
            str(lock),
            str(listening),
            str(self._directory),
            self._binary,
            *self._limits,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=[lock, listening],
            start_new_session=True,  # Ctrl-C is for us; the broker ends after its clients
        )

    async def _wait_until_it_answers(self, process: asyncio.subprocess.Process) -> bool:
        assert process.stdout is not None  # noqa: S101 - for the type checker: it is a pipe
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                announced = await _log_lost_messages(process.stdout)
                if not announced:
                    raise StartupError(
                        f"the embedded bus ended as soon as it was started: see {self._log}"
                    )
                await handshake(self.url, token=self.token)
        except TimeoutError:
            raise StartupError(
                f"the embedded bus did not start within {_STARTS_WITHIN:g} seconds: see {self._log}"
            ) from None
        except BusError as error:
            raise StartupError(f"the embedded bus does not answer: {error}") from error
        return announced == guard.PRIVATE

    async def keep_up(self) -> None:
        """Start the broker again whenever it ends; clients connect again by themselves."""
        while self._guard is not None:
            if self._guard.stdout is not None:
                await _log_lost_messages(self._guard.stdout)
            status = await self._guard.wait()
            log.error(
                "The embedded bus ended by itself (status %d) and is started again: see %s.",
                status,
                self._log,
            )
            await self._start_again()

    async def _start_again(self) -> None:
        """Try for as long as it takes: the disk may be full, or no process may be left."""
        async for attempt in stamina.retry_context(
            on=(StartupError, OSError),
            attempts=None,
            timeout=None,
            wait_initial=_PAUSE_BEFORE_RESTART,
            wait_max=_PAUSE_BEFORE_RESTART,
            wait_jitter=0,
        ):
            with attempt:
                try:
                    await self._start(self._port)
                except (StartupError, OSError) as error:
                    log.error("The embedded bus could not be started again: %s", error)  # noqa: TRY400 - one line
                    raise

    async def stop(self) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        if guard.stdin is not None:
            guard.stdin.close()
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                if guard.stdout is not None:
                    await _log_lost_messages(guard.stdout)
                await guard.wait()
        except TimeoutError:
            log.warning("The embedded bus did not end within %g seconds.", _ENDS_WITHIN)
            guard.kill()
            await guard.wait()


async def _log_lost_messages(said: asyncio.StreamReader) -> bytes:
    """Log what a guard says of messages that were lost, until it says something else or ends."""
    while (line := await said.readline()).startswith(guard.LOST):
        log.warning("%s See dead-letter-ttl-days and dead-letter-megabytes.", line.decode().strip())
    return line


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _listening(port: int) -> socket.socket:
    """A socket for clients, which the guard inherits."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise StartupError(
            f"port {port} cannot be used, so the embedded bus cannot listen there "
            f"({error.strerror}): stop what uses it, or choose another port with "
            f"FOURTIER_BUS_PORT (0 takes a free one)"
        ) from error
    return listening
