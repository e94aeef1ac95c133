"""A route that is full refuses what is new, finishes what it has, and then takes more."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.bus.contract import Address, Delivery
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.admission import Admission
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.routes import Route, stream_route
from fourtier.schema.topics import Call, Topic
from tests.runtime.rpc.support import Note, Reply, by_key, served
from tests.support.waiting import wait_until

KEPT: Call[Note, Reply] = Call(
    Topic("test.kept", Note, key=by_key), Reply, last=lambda reply: reply.last
)
MOST = 3


@pytest.fixture(autouse=True)
def a_message_of_the_last_hour_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waited for a busy machine is not taken for what a replica that is gone has begun."""
    monkeypatch.setattr("fourtier.runtime.rpc.admission._FRESH", 3_600)


class Slow:
    """Handles notes once the gate is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun: list[int] = []

    def route(self) -> Route:
        return stream_route(KEPT, self._handle, max_concurrency=MOST, max_in_flight=MOST)

    async def _handle(self, note: Note) -> AsyncIterator[Reply]:
        self.begun.append(note.number)
        await self.gate.wait()
        yield Reply(number=note.number)


async def test_what_is_too_much_is_refused_and_what_is_in_hand_is_finished() -> None:
    bus, slow = MemoryBus(), Slow()
    async with served(bus, slow.route()), open_caller(bus) as caller:

        async def ask(number: int) -> int:
            asked = caller.stream(KEPT, Note(key=f"k{number}", number=number))
            (reply,) = [reply async for reply in asked]
            return reply.number

        in_flight = [asyncio.create_task(ask(number)) for number in range(MOST)]
        await wait_until(lambda: len(slow.begun) == MOST)
        with pytest.raises(CallFailedError, match="come back in 1 second") as refused:
            await ask(MOST)
        slow.gate.set()
        assert await asyncio.gather(*in_flight) == [0, 1, 2]
        assert await ask(MOST + 1) == MOST + 1

    assert refused.value.type == "overloaded"
    assert refused.value.retry_after == 1
    assert slow.begun == [0, 1, 2, 4]


async def test_what_nobody_can_be_told_of_waits_its_turn() -> None:
    bus, slow = MemoryBus(), Slow()
    async with served(bus, slow.route()):
        for number in range(MOST + 2):
            note = Note(key=f"k{number}", number=number)
            await bus.publish(
                Address(KEPT.topic.name), note.model_dump_json().encode(), key=note.key
            )
        slow.gate.set()
        await wait_until(lambda: len(slow.begun) == MOST + 2)

    assert sorted(slow.begun) == list(range(MOST + 2))


@pytest.mark.parametrize(
    ("age", "redelivered", "refused"),
    [(0.0, False, True), (7_200.0, False, False), (0.0, True, False)],
)
def test_what_a_replica_that_is_gone_may_have_begun_is_taken_on(
    age: float, *, redelivered: bool, refused: bool
) -> None:
    async def acknowledge() -> None:
        pass

    admission = Admission("test.kept", most=1, max_concurrency=1)
    admission.take()
    properties = {"id": "1", "reply-to": "inbox.test"}
    delivery = Delivery("1", b"", properties, "k", time.time() - age, redelivered, acknowledge)

    assert (admission.overload(delivery, Envelope.of(properties, "1")) is not None) == refused
