"""A route that is full sheds new messages, finishes those in flight, and then takes more."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.bus.contract import Address, Delivery, Mode
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.admission import Admission
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.routes import Route, stream_route
from tests.runtime.rpc.support import DURABLE, FailingBus, Note, Reply, served
from tests.support.waiting import wait_until

LIMIT = 3


@pytest.fixture(autouse=True)
def messages_of_the_last_hour_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """No replica can have begun them, although this subscription is younger than a second."""
    monkeypatch.setattr("fourtier.runtime.rpc.admission._CLOCK_SKEW", -3_600)
    monkeypatch.setattr("fourtier.runtime.rpc.admission._FRESH", 3_600)


class Slow:
    """Handles notes once the gate is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun: list[int] = []

    def route(self) -> Route:
        return stream_route(DURABLE, self._handle, max_concurrency=LIMIT, max_in_flight=LIMIT)

    async def _handle(self, note: Note) -> AsyncIterator[Reply]:
        self.begun.append(note.number)
        await self.gate.wait()
        yield Reply(number=note.number)


async def test_excess_messages_are_shed_and_those_in_flight_are_finished() -> None:
    bus, slow = MemoryBus(), Slow()
    async with served(bus, slow.route()), open_caller(bus) as caller:

        async def ask(number: int) -> int:
            asked = caller.stream(DURABLE, Note(key=f"k{number}", number=number))
            (reply,) = [reply async for reply in asked]
            return reply.number

        in_flight = [asyncio.create_task(ask(number)) for number in range(LIMIT)]
        await wait_until(lambda: len(slow.begun) == LIMIT)
        with pytest.raises(CallFailedError, match="come back in 1 second") as shed:
            await ask(LIMIT)
        slow.gate.set()
        assert await asyncio.gather(*in_flight) == [0, 1, 2]
        assert await ask(LIMIT + 1) == LIMIT + 1

    assert shed.value.type == "overloaded"
    assert shed.value.retry_after == 1
    assert slow.begun == [0, 1, 2, 4]


async def test_a_message_without_a_caller_waits_its_turn() -> None:
    bus, slow = MemoryBus(), Slow()
    async with served(bus, slow.route()):
        for number in range(LIMIT + 2):
            note = Note(key=f"k{number}", number=number)
            await bus.publish(
                Address(DURABLE.topic.name), note.model_dump_json().encode(), key=note.key
            )
        slow.gate.set()
        await wait_until(lambda: len(slow.begun) == LIMIT + 2)

    assert sorted(slow.begun) == list(range(LIMIT + 2))


@pytest.mark.parametrize(
    ("age", "redelivered", "shed"),
    [(0.0, False, True), (7_200.0, False, False), (0.0, True, False)],
)
def test_a_message_that_a_stopped_replica_may_have_begun_is_taken_on(
    age: float, *, redelivered: bool, shed: bool
) -> None:
    async def acknowledge() -> None:
        pass

    admission = Admission("test.durable", max_in_flight=1, max_concurrency=1)
    admission.take()
    properties = {"id": "1", "reply-to": "inbox.test"}
    delivery = Delivery("1", b"", properties, "k", time.time() - age, redelivered, acknowledge)

    assert (admission.overload(delivery, Envelope.of(delivery)) is not None) == shed


@pytest.mark.parametrize(
    ("seconds_ago", "in_flight", "shed"),
    [
        (1, 2, True),  # new, and there is no room
        (10, 2, False),  # old: a replica that has gone may have begun it, and left it unmarked
        (10, 8, True),  # so many no replica leaves: they waited for a busy machine
        (57, 8, False),  # it may be from before this subscription
        (70, 8, False),
    ],
)
def test_an_old_message_is_taken_on_within_bounds(
    monkeypatch: pytest.MonkeyPatch, seconds_ago: float, in_flight: int, *, shed: bool
) -> None:
    monkeypatch.undo()
    admission = Admission("test.durable", max_in_flight=2, max_concurrency=1)
    admission._since -= 60
    for _ in range(in_flight):
        admission.take()
    properties = {"id": "1", "reply-to": "inbox.test"}
    delivery = Delivery("1", b"", properties, "k", time.time() - seconds_ago, False, _acknowledge)

    assert (admission.overload(delivery, Envelope.of(delivery)) is not None) == shed


async def _acknowledge() -> None:
    """Do nothing."""


async def test_callers_that_cannot_be_told_do_not_hold_up_the_topic() -> None:
    """More of them than the executor has room for messages."""
    bus, slow = FailingBus(), Slow()
    bus.held = "inbox.slow"
    async with served(bus, slow.route()), open_caller(bus) as caller:
        for number in range(LIMIT + 600):
            note = Note(key=f"k{number}", number=number)
            properties = {"reply-to": "inbox.slow", "id": f"id{number}"}
            payload = note.model_dump_json().encode()
            await bus.publish(Address(DURABLE.topic.name), payload, properties=properties)
        await wait_until(lambda: len(slow.begun) == LIMIT)
        with pytest.raises(CallFailedError, match="come back in"):
            await anext(caller.stream(DURABLE, Note(key="k", number=0)))
        bus.released.set()
        slow.gate.set()
    assert slow.begun == [0, 1, 2]


async def test_a_copy_of_a_shed_question_is_shed_too() -> None:
    """Its caller retried before it knew: told to come back, it must not get a run all the same."""
    bus, slow = FailingBus(), Slow()

    async def send(number: int, **properties: str) -> None:
        payload = Note(key=f"k{number}", number=number).model_dump_json().encode()
        await bus.publish(
            Address(DURABLE.topic.name),
            payload,
            key=f"k{number}",
            properties={"id": f"id{number}", "reply-to": "inbox.test", **properties},
        )

    async with (
        served(bus, slow.route()),
        bus.subscribe(Address("inbox.test", persistent=False), "caller", Mode.EXCLUSIVE) as inbox,
    ):
        for number in range(LIMIT):
            await send(number)
        await wait_until(lambda: len(slow.begun) == LIMIT)
        await send(LIMIT, call="the first")
        assert (await inbox.receive()).properties["error"] == "overloaded"
        slow.gate.set()
        for _ in range(LIMIT):
            assert "error" not in (await inbox.receive()).properties
        await send(LIMIT, call="the first", retry="true")
        assert (await inbox.receive()).properties["error"] == "overloaded"
        await send(LIMIT, call="the second")
        assert "error" not in (await inbox.receive()).properties

    assert slow.begun == [*range(LIMIT), LIMIT]
