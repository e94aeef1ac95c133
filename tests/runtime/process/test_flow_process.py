"""A process of a flow: what is around the services, how it starts, says what it is, and stops."""

import asyncio
import logging
import os
import re
import signal
import socket
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from aiohttp import ClientSession

from fourtier.engines.opening import FlowStores
from fourtier.flows.model import Flow, FlowError, parse_flow
from fourtier.flows.plan import process_plan
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.opening import BusConfig
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.flow_process import (
    FlowProcess,
    ProcessPlan,
    flow_process,
    stop_on_signals,
)
from fourtier.runtime.process.host import HostPlan
from fourtier.runtime.process.running import read_running
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.service.context import Parameters, ServiceContext
from fourtier.runtime.service.declaration import Service, answer, on
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings
from tests.runtime.rpc.support import NOTED, READ, Note, Reply
from tests.support.ports import free_port
from tests.support.waiting import wait_until


class Echo(Service):
    """A service that answers, and whose handler waits until a test lets it go on."""

    name = "echo"
    begun: ClassVar[list[int]] = []
    done: ClassVar[list[int]] = []
    go_on: ClassVar[asyncio.Event]

    @classmethod
    @asynccontextmanager
    async def open(cls, _context: ServiceContext, _parameters: Any) -> AsyncGenerator[Self]:
        cls.go_on = asyncio.Event()
        cls.begun.clear()
        cls.done.clear()
        yield cls()

    @answer(READ)
    async def read(self, note: Note) -> Reply:
        return Reply(number=note.number)

    @on(NOTED)
    async def note(self, note: Note) -> None:
        self.begun.append(note.number)
        await self.go_on.wait()
        self.done.append(note.number)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcessPlan:
    """A stop that waited for all of its grace would have no end."""
    monkeypatch.setattr("fourtier.runtime.process.host.load_service", {"echo": Echo}.__getitem__)
    monkeypatch.setattr("fourtier.runtime.process.host._GRACE", 3_600)
    return ProcessPlan(
        flow="laptop",
        bus=BusConfig("embedded", "fourtier", "laptop", tmp_path, 0),
        host=HostPlan(
            {"echo": Parameters()},
            ("echo",),
            FlowStores(EnginesConfig(), Settings()),
            tmp_path,
            Settings(),
        ),
        health_port=0,
    )


async def get(process: FlowProcess, path: str) -> tuple[int, str]:
    async with (
        ClientSession() as session,
        session.get(f"http://127.0.0.1:{process.health_port}{path}") as response,
    ):
        return response.status, await response.text()


async def test_a_flow_serves_its_health_endpoint_metrics_and_note(
    plan: ProcessPlan, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fourtier")
    async with flow_process(plan) as process, open_caller(process.bus) as caller:
        assert (await caller.call(READ, Note(key="k", number=4))).number == 4
        assert process.ready
        assert await get(process, "/ready") == (200, "ready\n")
        _, metrics = await get(process, "/metrics")
        assert re.search(r'messaging_process_duration_seconds_count{.*"test.read".*} 1.0', metrics)
        running = read_running(plan.host.data)
        assert (running.bus_url, running.pid) == (process.bus_url, os.getpid())
        assert (running.flow, running.services) == ("laptop", ("echo",))
        assert running.health_port == process.health_port
        with pytest.raises(StartupError, match="in use by process"):
            async with flow_process(plan):
                pass

    assert f"Connected to the bus at {process.bus_url} (fourtier/laptop)." in caplog.messages
    assert any(line.startswith("The flow laptop is up: echo.") for line in caplog.messages)
    assert "Stopping: messages in flight are finished first." in caplog.messages
    with pytest.raises(StartupError, match="no flow is running"):
        read_running(plan.host.data)
    async with flow_process(plan):  # and once more in the same directory and process
        pass


@pytest.mark.parametrize("existing", [False, True])
async def test_all_files_of_an_embedded_flow_are_private(tmp_path: Path, *, existing: bool) -> None:
    """As docs/security.md says it of data directory, bus, token, and all that a flow makes."""
    data, modes = tmp_path / "data", dict[str, int]()
    if existing:
        for directory in (data, data / "bus"):
            directory.mkdir()
            directory.chmod(0o755)
    before = os.umask(0o022)
    try:
        async with flow_process(laptop(data)):
            for path in (data, *data.rglob("*")):
                modes[str(path.relative_to(tmp_path))] = stat.S_IMODE(path.lstat().st_mode)
            directories = {name for name in modes if (tmp_path / name).is_dir()}
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert {"data", "data/bus", "data/facts", "data/episodes"} <= directories
    assert {"data/bus/token", "data/lock"} <= modes.keys() - directories
    assert {
        name: mode for name, mode in modes.items() if name in directories and mode != 0o700
    } == {}
    others = modes.items() - {(name, modes[name]) for name in directories}
    assert {name: mode for name, mode in others if mode != 0o600} == {}


def laptop(data: Path) -> ProcessPlan:
    """A flow with the embedded broker, graph and vectors."""
    environment = Settings(data=data, bus_port=0, health_port=0)
    services = {"facts": {}, "episodes": {}}
    return process_plan(Flow(name="laptop", namespace="laptop", services=services), environment, ())


async def test_a_flow_file_sets_the_time_limits_and_a_hanging_handler_fails_live(
    plan: ProcessPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourtier.runtime.rpc.attempts._GRACE", 0.0)
    released = asyncio.Event()

    class Stubborn(Echo):
        async def note(self, _note: Note) -> None:
            while not released.is_set():
                try:
                    await released.wait()
                except asyncio.CancelledError:
                    continue

    known = {"echo": Stubborn}.__getitem__
    monkeypatch.setattr("fourtier.runtime.process.host.load_service", known)
    monkeypatch.setattr("fourtier.flows.parameters.load_service", known)
    flow = parse_flow(
        "{name: f, bus: {url: 'memory://'}, health-port: 0, services: {echo: {}},"
        " limits: {handler-seconds: 0.05, stream-seconds: 7}}",
        "the test",
    )
    limited = process_plan(flow, Settings(data=plan.host.data))
    assert limited.host.limits.stream_seconds == 7
    async with flow_process(limited) as process, open_caller(process.bus) as caller:
        assert await get(process, "/live") == (200, "live\n")
        await caller.publish(NOTED, Note(key="k", number=1))

        async def fails() -> bool:
            return (await get(process, "/live"))[0] == 503

        await wait_until(fails)
        _, reason = await get(process, "/live")
        assert reason == "a handler hangs beyond its time limit: test.noted\n"
        released.set()
        await wait_until(lambda: not process.host.hanging())
        assert await get(process, "/live") == (200, "live\n")


@pytest.mark.parametrize("limit", ["handler-seconds: 0", "stream-seconds: -1", "seconds: 5"])
def test_a_limit_that_makes_no_sense_is_named(limit: str) -> None:
    with pytest.raises(FlowError, match=rf"limits\.{limit.split(':', maxsplit=1)[0]}"):
        parse_flow(f"{{name: f, services: {{}}, limits: {{{limit}}}}}", "the test")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_finishes_the_messages_in_flight(
    plan: ProcessPlan, number: signal.Signals
) -> None:
    async with flow_process(plan) as process, open_caller(process.bus) as caller:
        with stop_on_signals(process):
            await caller.publish(NOTED, Note(key="k", number=1))
            await wait_until(lambda: Echo.begun == [1])
            os.kill(os.getpid(), number)
            await process.wait()
            assert not process.ready
            assert await get(process, "/ready") == (503, "stopping\n")
        Echo.go_on.set()
    assert Echo.done == [1]


async def test_a_second_signal_cuts_off_the_messages_in_flight(plan: ProcessPlan) -> None:
    async with flow_process(plan) as process, open_caller(process.bus) as caller:
        with stop_on_signals(process):
            await caller.publish(NOTED, Note(key="k", number=1))
            await wait_until(lambda: Echo.begun == [1])
            os.kill(os.getpid(), signal.SIGTERM)
            await process.wait()
        # The stop has begun; the handlers are still there for the impatient.
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGTERM)
    assert Echo.done == []


async def test_signal_handlers_are_restored_when_no_stop_was_asked_for(plan: ProcessPlan) -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with flow_process(plan) as process:
        with stop_on_signals(process):
            assert signal.getsignal(signal.SIGTERM) is not before
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


async def test_the_error_of_a_failed_service_is_raised_by_wait(
    plan: ProcessPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with flow_process(plan) as process:
        monkeypatch.setattr(process.host, "wait_failed", _fail)
        with pytest.raises(BusError, match="receiving failed"):
            await process.wait()


async def _fail() -> None:
    raise BusError("receiving failed: 8 AlreadyClosed")


async def test_it_is_live_and_not_ready_while_it_starts(
    plan: ProcessPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Echo):
        @classmethod
        @asynccontextmanager
        async def open(cls, context: ServiceContext, parameters: Any) -> AsyncGenerator[Self]:
            opening.set()
            await go_on.wait()
            async with super().open(context, parameters) as echo:
                yield echo

    monkeypatch.setattr("fourtier.runtime.process.host.load_service", {"echo": Slow}.__getitem__)
    port = free_port()

    async def start() -> None:
        async with flow_process(replace(plan, health_port=port)):
            pass

    starting = asyncio.create_task(start())
    await opening.wait()
    async with ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/live") as live:
            assert live.status == 200
        async with session.get(f"http://127.0.0.1:{port}/ready") as ready:
            assert (ready.status, await ready.text()) == (503, "starting\n")
    go_on.set()
    await starting


async def test_a_flow_without_embedded_engines_needs_no_data_directory(plan: ProcessPlan) -> None:
    data = plan.host.data / "none"
    stores = FlowStores(EnginesConfig(graph="bolt://g", vectors="http://v"), Settings())
    host = replace(plan.host, stores=stores, data=data)
    bus = replace(plan.bus, url="memory://", data=data)
    async with flow_process(replace(plan, bus=bus, host=host)) as process:
        assert process.ready
    assert not data.exists()


async def test_each_startup_error_is_one_line(
    plan: ProcessPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_bus(**changes: Any) -> ProcessPlan:
        return replace(plan, bus=replace(plan.bus, **changes))

    file = plan.host.data / "file"
    file.touch()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        wrong = {
            f"port {taken} cannot be used, so the embedded bus": with_bus(port=taken),
            f"port {taken} cannot be used, so the health": replace(plan, health_port=taken),
            "write embedded, memory": with_bus(url="kafka://somewhere"),
            "no bus can be reached at pulsar://127.0.0.1:1:": with_bus(url="pulsar://127.0.0.1:1"),
            "no bus can be reached at pulsar://no-such.invalid:": with_bus(
                url="pulsar://no-such.invalid"
            ),
            f"no bus can be reached at pulsar://127.0.0.1:{taken}: no answer": with_bus(
                url=f"pulsar://127.0.0.1:{taken}"
            ),
            "the data directory": replace(plan, host=replace(plan.host, data=file / "data")),
            "telemetry cannot be sent": replace(
                plan, host=replace(plan.host, settings=Settings(otlp_endpoint="collector"))
            ),
        }
        for reason, broken in wrong.items():
            with monkeypatch.context() as hasty:
                hasty.setattr("fourtier.runtime.bus.pulsar.handshake._WITHIN", 0.2)
                with pytest.raises(StartupError) as raised:
                    async with flow_process(broken):
                        pass
            assert reason in str(raised.value)
            assert "\n" not in str(raised.value)
    async with flow_process(plan):  # and nothing of the failed starts is in the way
        pass
