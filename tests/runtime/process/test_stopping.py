"""A graceful stop finishes messages in flight; the rest, and what was cut off, is redelivered."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Address, Bus
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import Route, call_route, event_batch_route, event_route
from fourtier.runtime.rpc.server import Server
from tests.runtime.rpc.support import NOTED, READ, SLOW, FailingBus, Note, Reply, publish, served
from tests.support.waiting import wait_until


@pytest.fixture(params=["memory://", "embedded"])
async def bus(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bus]:
    async with open_bus(BusConfig(request.param, "fourtier", "test", tmp_path, 0)) as (bus, _):
        yield bus


class Desk:
    """A handler that works on a message until it is let go."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.done: list[int] = []
        self.go_on = asyncio.Event()

    async def note(self, note: Note) -> None:
        self.begun.append(note.number)
        await self.go_on.wait()
        self.done.append(note.number)

    async def notes(self, notes: Sequence[Note]) -> None:
        self.begun += [note.number for note in notes]
        await self.go_on.wait()
        self.done += [note.number for note in notes]


async def test_a_message_in_flight_is_finished_and_the_rest_is_redelivered(bus: Bus) -> None:
    first, second = Desk(), Desk()
    second.go_on.set()
    async with served(bus, event_route(NOTED, first.note)) as server:
        await publish(bus, NOTED, "k", *range(20))
        await wait_until(lambda: first.begun == [0])
        server.stop()
        first.go_on.set()
    assert first.done == [0]

    async with served(bus, event_route(NOTED, second.note)):
        await wait_until(lambda: len(second.done) == 19)
    assert second.done == list(range(1, 20))


async def test_a_batch_in_flight_is_finished_and_the_rest_is_redelivered(bus: Bus) -> None:
    first, second = Desk(), Desk()
    second.go_on.set()
    async with served(bus, event_batch_route(NOTED, first.notes, max_batch_size=4)) as server:
        await publish(bus, NOTED, "k", *range(20))
        await wait_until(lambda: first.begun != [])
        in_flight = list(first.begun)
        server.stop()
        first.go_on.set()
    assert first.done == in_flight

    async with served(bus, event_batch_route(NOTED, second.notes)):
        await wait_until(lambda: len(second.done) == 20 - len(in_flight))
    assert first.done + second.done == list(range(20))


async def test_a_query_that_has_arrived_is_answered_while_stopping() -> None:
    bus = FailingBus()
    go_on = asyncio.Event()

    async def read(note: Note) -> Reply:
        await go_on.wait()
        return Reply(number=note.number)

    async with open_caller(bus) as caller:
        async with served(bus, call_route(READ, read, max_concurrency=1)) as server:
            asked = [
                asyncio.create_task(caller.call(READ, Note(key="k", number=number)))
                for number in range(3)
            ]
            group = bus._topics[Address(READ.topic.name, persistent=False)]["test"]
            await wait_until(lambda: bus.published.count(READ.topic.name) == 3)
            await wait_until(group.consumers[0].queue.empty)
            server.stop()
            go_on.set()
        assert [(await question).number for question in asked] == [0, 1, 2]


async def test_a_message_that_waits_for_a_retry_is_redelivered_with_those_behind_it(
    bus: Bus,
) -> None:
    attempts: list[int] = []

    async def fail(note: Note) -> None:
        attempts.append(note.number)
        raise ConnectionResetError("not now")

    async with served(bus, event_route(NOTED, fail, retry=SLOW)):
        await publish(bus, NOTED, "k", 1, 2, 3)
        await wait_until(lambda: attempts == [1])
    assert attempts == [1]

    desk = Desk()
    desk.go_on.set()
    async with served(bus, event_route(NOTED, desk.note)):
        await wait_until(lambda: len(desk.done) == 3)
    assert desk.done == [1, 2, 3]


@pytest.mark.parametrize("batches", [False, True])
async def test_a_handler_that_is_cut_off_leaves_its_message(bus: Bus, *, batches: bool) -> None:
    def route(desk: Desk) -> Route:
        return event_batch_route(NOTED, desk.notes) if batches else event_route(NOTED, desk.note)

    cut_off, desk = Desk(), Desk()
    serving = asyncio.create_task(Server(bus, "test").serve(route(cut_off), asyncio.Event()))
    await bus.create_group(Address(NOTED.name), "test")
    await publish(bus, NOTED, "k", 1, 2)
    await wait_until(lambda: cut_off.begun != [])
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert cut_off.done == []

    desk.go_on.set()
    async with served(bus, route(desk)):
        await wait_until(lambda: len(desk.done) == 2)
    assert desk.done == [1, 2]


async def test_an_idle_service_stops_without_another_message(bus: Bus) -> None:
    desk = Desk()
    batches = replace(NOTED, name="test.noted-in-batches")
    async with served(bus, event_route(NOTED, desk.note), event_batch_route(batches, desk.notes)):
        pass
    assert desk.begun == []


async def test_a_failed_acknowledgement_is_logged_and_the_service_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, desk = FailingBus(), Desk()
    bus.acknowledgements_fail = 1
    desk.go_on.set()
    async with served(bus, event_route(NOTED, desk.note)):
        await publish(bus, NOTED, "k", 1, 2)
        await wait_until(lambda: desk.done == [1, 2])
    again = Desk()
    again.go_on.set()
    async with served(bus, event_route(NOTED, again.note)):
        await wait_until(lambda: again.done == [1])

    assert "A message on test.noted is done, but not acknowledged" in caplog.text
