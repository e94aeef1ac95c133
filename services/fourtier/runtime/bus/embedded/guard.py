"""Runs the broker while standard input is open: `guard LOCK LISTENING DIRECTORY BROKER [LIMITS]`.

The parent holds the other end of standard input. When the parent ends, even by `kill -9`, the
operating system closes it, and the broker is ended too. LOCK is an open file descriptor with a lock
on it, which is held until this process, the broker and a compaction have ended. LISTENING is the
socket to which clients connect. LIMITS are those of topics, as `compaction` takes them. A process
of its own that imports little, so that it starts fast.

Where the system allows it, the broker runs in a network of its own, and clients come in through a
gate that wants the token. Elsewhere the broker itself listens, and lets in whoever reaches it.
"""

import asyncio
import contextlib
import os
import socket
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from fourtier.runtime.bus.embedded.access_token import read_token
from fourtier.runtime.bus.embedded.gate import Client, Gate
from fourtier.runtime.bus.embedded.maintenance import is_due, usage
from fourtier.runtime.bus.embedded.parent_death import ends_with_parent
from fourtier.runtime.bus.embedded.private_network import enter_private_network
from fourtier.runtime.bus.embedded.storage.entry_logs import database_in

#: What the parent is told when the broker answers for the first time.
PRIVATE, SHARED = b"private\n", b"shared\n"
#: What lines begin with by which the parent learns of messages that were dropped unhandled.
LOST = b"Dropped unhandled messages:"

_GRACE = 5.0
#: A fast publisher stores some megabytes in this time.
_LOOKS_EVERY = 0.25
_CONNECTS_EVERY = 0.005
#: Without it the broker would read a file of the working directory, and listen on 0.0.0.0:8080.
_CONFIGURATION = "default_partitions = 0\n\n[metrics]\nenabled = false\n"
_COMPACTION = "fourtier.runtime.bus.embedded.storage.compaction"
_DIED_OF_SIGNAL = 128


class _Why(Enum):
    """Why the broker is looked at no longer."""

    ENDED = "it ended by itself"
    STOP = "the parent is gone or wants it to end"
    MAINTENANCE = "its files have to be compacted"


class Guard:
    """The broker's life: compact, start, watch, and from time to time all of it again.

    Args:
        lock: see above.
        directory: of the broker's files.
        binary: the broker's program.
        address: where the broker listens.
        gate: None where the broker itself lets clients in.
        limits: arguments for the compaction.
    """

    def __init__(
        self,
        lock: int,
        directory: Path,
        binary: str,
        address: tuple[str, int],
        gate: Gate | None,
        *,
        limits: Sequence[str],
    ) -> None:
        self._lock = lock
        self._directory = directory
        self._binary = binary
        self._address = address
        self._gate = gate
        self._limits = limits
        self._log = directory / "broker.log"
        self._configuration = directory / "broker.toml"
        self._announced = False

    async def run(self) -> int:
        """Run until standard input ends or the broker does; returns the exit status."""
        stop = _end_of_input()
        self._configuration.write_text(_CONFIGURATION, encoding="utf-8")
        while True:
            await self._compact()
            broker = await self._start()
            why = await self._watch(broker, stop)
            await self._end(broker)
            if why is _Why.STOP:
                await self._compact()
                return 0
            if why is _Why.ENDED:
                status = broker.returncode or 0
                return status if status >= 0 else _DIED_OF_SIGNAL - status

    async def _compact(self) -> None:
        """Remove what was acknowledged; in a process of its own, which may fail or be killed."""
        logs = (database_in(self._directory) / "entrylog").glob("*.log")
        if not any(path.stat().st_size for path in logs):
            return
        program = (sys.executable, "-P", "-m", _COMPACTION)
        compaction = await self._run(
            *program, self._directory, *self._limits, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await compaction.communicate()
        with self._log.open("ab") as log:
            log.write(said)
        for line in said.splitlines():
            if line.startswith(LOST):
                _tell_parent(line + b"\n")

    async def _start(self) -> Process:
        host, port = self._address
        broker = await self._run(
            self._binary,
            *("--config", self._configuration),
            *("--addr", f"{host}:{port}"),
            *("--db-path", self._directory / "messages"),
            *("--log-level", "error"),
        )
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(broker.pid).encode(), 0)
        return broker

    async def _run(self, *command: str | Path, stdout: int | None = None) -> Process:
        with self._log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log if stdout is None else stdout,
                stderr=log,
                pass_fds=[self._lock],
                preexec_fn=ends_with_parent(),
            )

    async def _answers(self, broker: Process, stop: asyncio.Event) -> bool:
        """Wait until it takes connections; False if it ended, or if we are to stop."""
        while broker.returncode is None and not stop.is_set():
            try:
                _, writer = await asyncio.open_connection(*self._address)
            except OSError:
                await asyncio.sleep(_CONNECTS_EVERY)
            else:
                writer.close()
                return True
        return False

    def _announce(self) -> None:
        """Once: the parent waits for it when it starts us."""
        if not self._announced:
            self._announced = True
            _tell_parent(PRIVATE if self._gate else SHARED)

    async def _watch(self, broker: Process, stop: asyncio.Event) -> _Why:
        """Let clients in, and wait until there is a reason to end the broker."""
        if not await self._answers(broker, stop):
            return _Why.STOP if stop.is_set() else _Why.ENDED
        self._announce()
        begun, started = usage(self._directory, broker.pid), time.monotonic()
        last, moved = begun, started
        if self._gate is not None:
            self._gate.open.set()
        ended, stopped = asyncio.create_task(broker.wait()), asyncio.create_task(stop.wait())
        try:
            while not await _first(ended, stopped):
                now, at = usage(self._directory, broker.pid), time.monotonic()
                last, moved = (now, at) if now.disk != last.disk else (last, moved)
                idle = at - max(moved, self._gate.last_traffic if self._gate else moved)
                if is_due(begun, now, age=at - started, idle=idle):
                    return _Why.MAINTENANCE
            return _Why.STOP if stop.is_set() else _Why.ENDED
        finally:
            ended.cancel()
            stopped.cancel()
            await asyncio.gather(ended, stopped, return_exceptions=True)

    async def _end(self, broker: Process) -> None:
        if self._gate is not None:
            self._gate.open.clear()
            await self._gate.drain()
        if broker.returncode is None:
            broker.terminate()
            try:
                async with asyncio.timeout(_GRACE):
                    await broker.wait()
            except TimeoutError:
                broker.kill()
                await broker.wait()
        if self._gate is not None:
            self._gate.close_connections()


def _tell_parent(line: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent is gone; so are we in a moment
        os.write(sys.stdout.fileno(), line)


async def _first(*tasks: asyncio.Task[object]) -> bool:
    """Wait for one of them, but only until it is time to look around."""
    done, _ = await asyncio.wait(tasks, timeout=_LOOKS_EVERY, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


def _end_of_input() -> asyncio.Event:
    """Set once nobody holds the other end of standard input. A thread could not be ended."""
    loop, ended, descriptor = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()

    def read() -> None:
        if not os.read(descriptor, 4096):
            loop.remove_reader(descriptor)
            ended.set()

    loop.add_reader(descriptor, read)
    return ended


async def _guard(
    lock: int,
    listening: socket.socket,
    token: str | None,
    directory: Path,
    binary: str,
    *,
    limits: Sequence[str],
) -> int:
    """Clients learn the broker's address from the broker: it is the one at which we listen."""
    address = listening.getsockname()
    if token is None:
        listening.close()
        return await Guard(lock, directory, binary, address, None, limits=limits).run()
    gate = Gate(address, token)
    server = await asyncio.get_running_loop().create_server(lambda: Client(gate), sock=listening)
    try:
        return await Guard(lock, directory, binary, address, gate, limits=limits).run()
    finally:
        server.close()
        gate.close_connections()


def main() -> int:
    """Guard a broker; see above."""
    # Not at the top: a client imports this module as well, and is installed without uvloop.
    import uvloop  # noqa: PLC0415

    lock, descriptor, directory, binary, *limits = sys.argv[1:]
    os.umask(0o077)
    listening = socket.socket(fileno=int(descriptor))
    token = read_token(Path(directory)) if enter_private_network() else None
    return uvloop.run(_guard(int(lock), listening, token, Path(directory), binary, limits=limits))


if __name__ == "__main__":
    sys.exit(main())
