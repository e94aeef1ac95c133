"""The host: services start in order or not at all, and stop in reverse order."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from fourtier.engines.opening import FlowStores
from fourtier.runtime.bus.contract import Address, BusError, Mode, Subscription
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.host import HostPlan, run_services
from fourtier.runtime.rpc.routes import Route, call_route, event_route
from fourtier.runtime.service.context import Parameters, ServiceContext
from fourtier.runtime.service.declaration import Service
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings
from tests.runtime.rpc.support import NOTED, READ, Note, Reply, publish
from tests.support.waiting import wait_until


class Diary:
    """What services did, in the order in which they did it."""

    def __init__(self) -> None:
        self.lines: list[str] = []


DIARY = Diary()


class Recorded(Service):
    """A service that writes a diary and asks the one before it."""

    name = "service"
    routes_of: ClassVar[Sequence[Route]] = ()

    @classmethod
    @asynccontextmanager
    async def open(cls, _context: ServiceContext, _parameters: Any) -> AsyncGenerator[Self]:
        DIARY.lines.append(f"open {cls.name}")
        try:
            yield cls()
        finally:
            DIARY.lines.append(f"close {cls.name}")

    def routes(self) -> Sequence[Route]:
        return self.routes_of


def service(name: str, *routes: Route) -> type[Recorded]:
    """Make a service class with these routes."""
    return type(name, (Recorded,), {"name": name, "routes_of": routes})


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[Service]]:
    """What can be loaded by name. A stop that waited for all of its grace would have no end."""
    DIARY.lines.clear()
    monkeypatch.setattr("fourtier.runtime.process.host._GRACE", 3_600)
    known: dict[str, type[Service]] = {}
    monkeypatch.setattr("fourtier.runtime.process.host.load_service", known.__getitem__)
    return known


def plan(data: Path, *names: str) -> HostPlan:
    return HostPlan(
        {name: Parameters() for name in names},
        names,
        FlowStores(EnginesConfig(), Settings()),
        data,
        Settings(),
    )


class GoneBus(MemoryBus):
    """A bus whose subscription to a topic cannot be had, or is gone when `gone` is set."""

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.topic = topic
        self.rejected = False
        self.gone = asyncio.Event()

    @asynccontextmanager
    async def subscribe(
        self, address: Address, group: str, mode: Mode
    ) -> AsyncGenerator[Subscription]:
        if address.name.startswith(self.topic):
            if self.rejected:
                raise BusError(f"{address.name}: cannot subscribe as {group}: 7 ConsumerBusy")
            yield self
            return
        async with super().subscribe(address, group, mode) as consumer:
            yield consumer

    async def receive(self) -> Any:
        await self.gone.wait()
        raise BusError("receiving failed: 8 AlreadyClosed")

    def arrived(self, _limit: int) -> list[Any]:
        return []


async def read(note: Note) -> Reply:
    return Reply(number=note.number)


async def note(_note: Note) -> None:
    DIARY.lines.append("noted")


async def test_services_open_in_order_and_close_in_reverse(
    services: dict[str, type[Service]], tmp_path: Path
) -> None:
    services |= {"one": service("one", call_route(READ, read)), "two": service("two")}
    async with run_services(MemoryBus(), plan(tmp_path, "one", "two")) as host:
        assert host.ready.is_set()
        DIARY.lines.append("ready")

    assert not host.ready.is_set()
    assert DIARY.lines == ["open one", "open two", "ready", "close two", "close one"]


async def test_a_host_without_routes_waits_and_stops(
    services: dict[str, type[Service]], tmp_path: Path
) -> None:
    services |= {"quiet": service("quiet")}
    async with run_services(MemoryBus(), plan(tmp_path, "quiet")) as host:
        waiting = asyncio.create_task(host.wait_failed())
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_service_that_cannot_be_opened_closes_those_before_it(
    services: dict[str, type[Service]], tmp_path: Path
) -> None:
    class Broken(Recorded):
        @classmethod
        @asynccontextmanager
        async def open(cls, _context: ServiceContext, _parameters: Any) -> AsyncGenerator[Self]:
            raise StartupError("the graph is locked")
            yield cls()

    services |= {"one": service("one"), "broken": Broken}
    with pytest.raises(StartupError, match="the graph is locked"):
        async with run_services(MemoryBus(), plan(tmp_path, "one", "broken")):
            pass
    assert DIARY.lines == ["open one", "close one"]


async def test_a_subscription_that_the_broker_rejects_ends_the_start(
    services: dict[str, type[Service]], tmp_path: Path
) -> None:
    services |= {
        "one": service("one", call_route(READ, read)),
        "two": service("two", event_route(NOTED, note)),
    }
    bus = GoneBus("test.noted")
    bus.rejected = True
    with pytest.raises(BusError, match=r"^test\.noted: cannot subscribe as two"):
        async with run_services(bus, plan(tmp_path, "one", "two")):
            pass
    assert DIARY.lines[-1] == "close one"


@pytest.mark.parametrize("topic", ["test.noted", "inbox."])
async def test_a_subscription_that_is_gone_ends_the_host(
    services: dict[str, type[Service]], tmp_path: Path, topic: str
) -> None:
    services |= {"two": service("two", event_route(NOTED, note))}
    bus = GoneBus(topic)
    async with run_services(bus, plan(tmp_path, "two")) as host:
        bus.gone.set()
        with pytest.raises(BusError, match="receiving failed"):
            await host.wait_failed()


async def test_a_handler_in_flight_at_a_stop_can_still_call_an_earlier_service(
    services: dict[str, type[Service]], tmp_path: Path
) -> None:
    stopping = asyncio.Event()
    answers: list[int] = []

    class Asking(Recorded):
        name = "asking"

        @classmethod
        @asynccontextmanager
        async def open(cls, context: ServiceContext, _parameters: Any) -> AsyncGenerator[Self]:
            async def ask(note: Note) -> None:
                DIARY.lines.append("begun")
                await stopping.wait()
                answers.append((await context.caller.call(READ, note)).number)

            asking = cls()
            asking.routes_of = (event_route(NOTED, ask),)  # type: ignore[misc]
            yield asking

    services |= {"one": service("one", call_route(READ, read)), "asking": Asking}
    bus = MemoryBus()
    async with run_services(bus, plan(tmp_path, "one", "asking")) as host:
        await publish(bus, NOTED, "k", 7)
        await wait_until(lambda: "begun" in DIARY.lines)
        asyncio.get_running_loop().call_soon(
            lambda: asyncio.get_running_loop().call_soon(stopping.set)
        )
        await host.stop()

    assert answers == [7]


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_handler_that_does_not_end_is_cut_off_and_its_message_redelivered(
    services: dict[str, type[Service]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    at_once: bool,
) -> None:
    if not at_once:
        monkeypatch.setattr("fourtier.runtime.process.host._GRACE", 0.05)

    async def endless(_note: Note) -> None:
        DIARY.lines.append("begun")
        await asyncio.Event().wait()

    services |= {"two": service("two", event_route(NOTED, endless))}
    bus = MemoryBus()
    async with run_services(bus, plan(tmp_path, "two")) as host:
        await publish(bus, NOTED, "k", 1)
        await wait_until(lambda: "begun" in DIARY.lines)
        if at_once:
            asyncio.get_running_loop().call_later(0.01, host.stop_at_once)
    assert "two test.noted did not finish in time" in caplog.text

    services |= {"two": service("two", event_route(NOTED, note))}
    async with run_services(bus, plan(tmp_path, "two")):
        await wait_until(lambda: "noted" in DIARY.lines)
