"""The embedded broker's life: killed, started again, in somebody's way, or not there at all."""

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.bus.contract import Address, Bus, BusError, Mode
from fourtier.runtime.bus.embedded.broker import EmbeddedBroker, embedded_broker
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, Timeouts, connect_pulsar
from fourtier.runtime.errors import StartupError
from tests.support.ports import free_port
from tests.support.waiting import wait_until

pytestmark = pytest.mark.processes

TOPIC = Address("numbers")


#: Of a bus that is to meet a broker that does not answer.
SHORT = Timeouts(send=1, operation=1)
USUAL = Timeouts()


@asynccontextmanager
async def connected(
    broker: EmbeddedBroker, directory: Path, timeouts: Timeouts = USUAL
) -> AsyncGenerator[Bus]:
    """Open a bus."""
    async with connect_pulsar(
        broker.url,
        "fourtier",
        "test",
        security=PulsarSecurity(token=broker.token),
        log_file=str(directory / "client.log"),
        timeouts=timeouts,
    ) as bus:
        yield bus


async def confirmed(bus: Bus, payload: bytes) -> None:
    """Publish, again where a second was too short for a busy machine."""

    async def published() -> bool:
        try:
            await bus.publish(TOPIC, payload, key="end")
        except BusError:
            return False
        return True

    await wait_until(published)


async def broker_pid(directory: Path) -> int:
    """Its guard tells, once it has started it; the broker may have answered before."""
    lock = directory / "broker.lock"
    await wait_until(lambda: bool(lock.read_text()))
    return int(lock.read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_stopped(pid: int) -> bool:
    """Whether SIGSTOP has reached all threads, where the system tells."""
    states = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(state.rpartition(")")[2].split()[0] == "T" for state in states)


async def test_a_broker_that_is_gone_is_an_error_and_closing_still_works(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        running = AsyncExitStack()
        broker = await running.enter_async_context(embedded_broker(tmp_path, 0))
        bus = await stack.enter_async_context(connected(broker, tmp_path, SHORT))
        other = await stack.enter_async_context(connected(broker, tmp_path))
        await stack.enter_async_context(other.subscribe(TOPIC, "workers", Mode.KEY_SHARED))
        await confirmed(bus, b"1")
        await running.aclose()

        with pytest.raises(BusError, match="numbers: no receipt"):
            await bus.publish(TOPIC, b"2")
        with pytest.raises(BusError, match="others: cannot publish"):
            await bus.publish(Address("others"), b"2")
        with pytest.raises(BusError, match="others: cannot subscribe as workers"):
            await bus.create_group(Address("others"), "workers")


async def test_a_broker_that_hangs_is_an_error_until_it_goes_on(tmp_path: Path) -> None:
    async with embedded_broker(tmp_path, 0) as broker, connected(broker, tmp_path, SHORT) as bus:
        await confirmed(bus, b"1")
        pid = await broker_pid(tmp_path)
        os.kill(pid, signal.SIGSTOP)
        await wait_until(lambda: is_stopped(pid))  # on a busy machine not at once
        try:
            with pytest.raises(BusError, match="numbers: no receipt"):
                await bus.publish(TOPIC, b"2")
        finally:
            os.kill(pid, signal.SIGCONT)
        await confirmed(bus, b"3")


async def test_a_killed_broker_comes_back_and_nothing_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    async with embedded_broker(tmp_path, 0) as broker, connected(broker, tmp_path) as bus:
        async with bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as consumer:
            for number in range(50):
                await bus.publish(TOPIC, str(number).encode(), key=str(number % 3))
            in_flight = [await consumer.receive() for _ in range(30)]
            for delivery in in_flight[:20]:
                await delivery.acknowledge()
            killed = await broker_pid(tmp_path)
            os.kill(killed, signal.SIGKILL)
            lock = tmp_path / "broker.lock"
            await wait_until(lambda: lock.read_text().strip() not in {"", str(killed)})
            await confirmed(bus, b"50")
            rest = [int((await consumer.receive()).payload) for _ in range(21)]
            assert rest == list(range(30, 51))
            for delivery in in_flight[20:25]:
                await delivery.acknowledge()
        async with bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as heir:
            left = [int((await heir.receive()).payload) for _ in range(26)]

    assert left == list(range(25, 51))


async def test_a_broker_that_cannot_be_started_again_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourtier.runtime.bus.embedded.broker._PAUSE_BEFORE_RESTART", 0.01)
    run = asyncio.create_subprocess_exec
    failures = [OSError(errno.EAGAIN, "no process is left")] * 3

    async def sometimes(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        if failures:
            raise failures.pop()
        return await run(*arguments, **options)

    async with embedded_broker(tmp_path, 0) as broker, connected(broker, tmp_path) as bus:
        await bus.publish(TOPIC, b"1")
        monkeypatch.setattr(asyncio, "create_subprocess_exec", sometimes)
        os.kill(await broker_pid(tmp_path), signal.SIGKILL)
        await confirmed(bus, b"2")
    assert not failures


async def test_a_flow_that_was_killed_starts_again_in_its_directory(tmp_path: Path) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("crash.py")),
        str(tmp_path),
        str(port),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    old_broker = await broker_pid(tmp_path / "bus")
    process.kill()
    await process.communicate()

    # At once: the old broker may still have the files and the port.
    config = BusConfig("embedded", "fourtier", "crash", tmp_path, port)
    async with open_bus(config) as (bus, url):
        assert url == f"pulsar://127.0.0.1:{port}"
        assert not is_alive(old_broker)
        async with bus.subscribe(Address("numbers"), "workers", Mode.KEY_SHARED) as consumer:
            rest = [int((await consumer.receive()).payload) for _ in range(75)]
            await bus.publish(Address("numbers"), b"100")
            assert (await consumer.receive()).payload == b"100"

    assert rest == [*range(1, 50, 2), *range(50, 100)]


async def test_the_broker_ends_with_the_flow(tmp_path: Path) -> None:
    async with embedded_broker(tmp_path, 0):
        pid = await broker_pid(tmp_path)
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_a_directory_serves_one_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourtier.runtime.bus.embedded.broker._LETS_GO_WITHIN", 0.1)
    async with embedded_broker(tmp_path, 0):
        pid = await broker_pid(tmp_path)
        with pytest.raises(StartupError, match=rf"another flow, process {pid}"):
            async with embedded_broker(tmp_path, 0):
                pass


async def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StartupError, match=rf"^port {port} cannot be used.*FOURTIER_BUS_PORT"):
            async with embedded_broker(tmp_path, port):
                pass


async def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match=r"^the directory .*file/bus of the embedded bus cannot"):
        async with embedded_broker(tmp_path / "file" / "bus", 0):
            pass


async def test_a_broker_that_cannot_start_names_its_log(tmp_path: Path) -> None:
    (tmp_path / "messages.rocksdb").write_text("no database")
    with pytest.raises(StartupError, match=r"ended as soon as it was started: see .*broker.log"):
        async with embedded_broker(tmp_path, 0):
            pass


async def test_a_missing_package_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pulsar_lite.binary_finder", None)
    with pytest.raises(StartupError, match=r"install fourtier\[laptop\]"):
        async with embedded_broker(tmp_path, 0):
            pass


async def test_a_client_that_ends_in_the_middle_of_its_work_does_not_abort(tmp_path: Path) -> None:
    async def end(broker: EmbeddedBroker, way: str) -> int:
        program = str(Path(__file__).with_name("ending.py"))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            program,
            broker.url,
            broker.token,
            way,
            stderr=asyncio.subprocess.DEVNULL,
        )
        return await process.wait()

    async with embedded_broker(tmp_path, 0) as broker:
        ways = ("return", "raise", "interrupt", "exit")
        codes = await asyncio.gather(*(end(broker, way) for way in ways))

    # SIGABRT would be -6, a crash -11.
    assert dict(zip(ways, codes, strict=True)) == {
        "return": 0,
        "raise": 1,
        "interrupt": -signal.SIGINT,
        "exit": 3,
    }
