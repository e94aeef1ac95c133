"""The process around the broker: it ends with its parent and with the broker, and says nothing."""

import asyncio
import fcntl
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pulsar_lite.binary_finder import find_pulsar_lite_binary

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.embedded import guard
from fourtier.runtime.bus.embedded.access_token import read_token, token_in
from fourtier.runtime.bus.pulsar.handshake import handshake
from tests.support.waiting import wait_until

pytestmark = pytest.mark.processes


@dataclass
class Guarded:
    process: asyncio.subprocess.Process
    announced: bytes
    url: str
    directory: Path

    def broker(self) -> int:
        return int((self.directory / "broker.lock").read_text())

    async def end(self) -> tuple[int | None, bytes]:
        """Exit status and what it wrote to standard error."""
        _, said = await self.process.communicate()
        return self.process.returncode, said


#: The guard, as it runs where the system allows no network of its own.
NOT_PRIVATE = f"""
import sys
from {guard.__package__} import guard
guard.enter_private_network = lambda: False
sys.exit(guard.main())
"""


@asynccontextmanager
async def guarded(directory: Path, *, private: bool = True) -> AsyncGenerator[Guarded]:
    """A guard whose standard input we hold."""
    token_in(directory, "sesame")
    lock = os.open(directory / "broker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        program = ["-m", guard.__name__] if private else ["-c", NOT_PRIVATE]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", *program, str(lock), str(listening.fileno())),
            *(str(directory), find_pulsar_lite_binary()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[lock, listening.fileno()],
        )
        url = f"pulsar://127.0.0.1:{listening.getsockname()[1]}"
    os.close(lock)
    assert process.stdout is not None
    try:
        yield Guarded(process, await process.stdout.readline(), url, directory)
    finally:
        if process.returncode is None:
            await process.communicate(b"")  # closes its standard input: the broker ends too


def sockets(process: str) -> str:
    """The TCP sockets in the network of a process."""
    return Path(f"/proc/{process}/net/tcp").read_text()


def is_locked(directory: Path) -> bool:
    descriptor = os.open(directory / "broker.lock", os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_broker_that_ends_by_itself_ends_the_guard_without_a_word(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with guarded(tmp_path) as guard_:
        assert is_locked(tmp_path)
        os.kill(guard_.broker(), number)
        assert await guard_.end() == (128 + number, b"")
    assert not is_locked(tmp_path)


async def test_a_parent_that_is_gone_ends_the_broker(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guard_:
        broker = guard_.broker()
        assert guard_.process.stdin is not None
        guard_.process.stdin.close()
        assert await guard_.end() == (0, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(broker, 0)
    assert not is_locked(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
async def test_a_guard_that_is_killed_takes_the_broker_with_it(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guard_:
        guard_.process.kill()
        await guard_.process.wait()
        await wait_until(lambda: not is_locked(tmp_path))


async def test_a_parent_that_is_gone_before_the_broker_answers_ends_it_too(tmp_path: Path) -> None:
    script = tmp_path / "broker"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o700)
    token_in(tmp_path, "sesame")
    lock = os.open(tmp_path / "broker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", guard.__name__, str(lock), str(listening.fileno())),
            *(str(tmp_path), str(script)),
            stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[lock, listening.fileno()],
        )
    try:
        await wait_until(lambda: bool((tmp_path / "broker.lock").read_text()))
        assert process.stdin is not None
        process.stdin.close()
        _, said = await process.communicate()
    finally:
        os.close(lock)
    assert (process.returncode, said) == (0, b"")


async def test_only_who_shows_the_token_gets_in(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guard_:
        if guard_.announced == guard.SHARED:
            pytest.skip("the system allows no network of its own")
        assert (await handshake(guard_.url, token="sesame")).startswith("Pulsar-Lite")  # noqa: S106
        for token in (None, "", "sesam", "sesame "):
            with pytest.raises(BusError, match="set FOURTIER_BUS_TOKEN"):
                await handshake(guard_.url, token=token)


async def test_nobody_reaches_the_broker_around_the_gate(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guard_:
        if guard_.announced == guard.SHARED:
            pytest.skip("the system allows no network of its own")
        inside, outside = sockets(str(guard_.broker())), sockets("self")
        port = f":{int(guard_.url.rpartition(':')[2]):04X}"
        assert port in inside
        # Outside, only the guard's own socket listens at that port.
        listening = [line for line in outside.splitlines() if f"{port} 00000000:0000 0A" in line]
        assert len(listening) == 1


async def test_where_no_private_network_is_allowed_the_broker_listens_itself(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path, private=False) as guard_:
        assert guard_.announced == guard.SHARED
        assert (await handshake(guard_.url)).startswith("Pulsar-Lite")
        assert guard_.process.stdin is not None
        guard_.process.stdin.close()
        assert await guard_.end() == (0, b"")


def test_a_token_is_made_once_and_only_its_user_may_read_it(tmp_path: Path) -> None:
    assert read_token(tmp_path) is None
    token = token_in(tmp_path, None)

    assert len(token) >= 40
    assert token_in(tmp_path, None) == token == read_token(tmp_path)
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert token_in(tmp_path, "another") == "another" == read_token(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
