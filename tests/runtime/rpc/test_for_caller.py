"""A question whose answer is for its caller alone, and which the broker stores all the same."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError, UnavailableError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import stream_route
from fourtier.schema.topics import Call, Topic
from tests.runtime.rpc.support import SERVICE, FailingBus, Note, Reply, by_key, dead_letters, served
from tests.support.waiting import wait_until

ASKED: Call[Note, Reply] = Call(
    Topic("test.asked", Note, key=by_key, for_caller=True), Reply, last=lambda reply: reply.last
)
NOTE = Note(key="k", number=1)


class Handler:
    def __init__(self, error: Exception | None = None) -> None:
        self.handled: list[int] = []
        self._error = error

    async def __call__(self, note: Note) -> AsyncIterator[Reply]:
        self.handled.append(note.number)
        if self._error is not None:
            raise self._error
        yield Reply(number=note.number)


async def put(bus: MemoryBus, number: int, **properties: str) -> None:
    note = Note(key="k", number=number)
    await bus.publish(
        Address(ASKED.topic.name),
        note.model_dump_json().encode(),
        key="k",
        properties={"id": str(number), "reply-to": "inbox.x", **properties},
    )


async def test_it_waits_for_its_service_and_is_answered() -> None:
    bus, handler = MemoryBus(), Handler()
    await bus.create_group(Address(ASKED.topic.name), SERVICE)
    async with open_caller(bus) as caller:
        stream = caller.stream(ASKED, NOTE)
        first = asyncio.ensure_future(anext(stream))
        async with served(bus, stream_route(ASKED, handler)):
            assert (await first).number == 1
            await stream.aclose()


async def test_one_whose_caller_has_gone_is_not_handled() -> None:
    bus, handler = FailingBus(), Handler()
    async with served(bus, stream_route(ASKED, handler)):
        bus.clock_ahead = -3_600  # what comes now was published an hour ago
        await put(bus, 1, **{"timeout-ms": "60000"})
        await put(bus, 2)  # it does not say for how long it waits
        await wait_until(lambda: handler.handled == [2])
        bus.clock_ahead = 0
        an_hour_ago = str(int((time.time() - 3_600) * 1_000_000))
        await put(bus, 3, **{"timeout-ms": "60000", "sent-at": an_hour_ago})  # it is sent again
        await wait_until(lambda: handler.handled == [2, 3])


async def test_one_that_fails_is_told_to_its_caller_and_neither_retried_nor_stored() -> None:
    bus, handler = MemoryBus(), Handler(UnavailableError("the archive is down"))
    async with served(bus, stream_route(ASKED, handler)), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match="the archive is down") as failed:
            _ = [reply async for reply in caller.stream(ASKED, NOTE)]
        assert failed.value.temporary
        assert handler.handled == [1]
        await bus.publish(Address(ASKED.topic.name), b"{}", key="k", properties={"id": "bad"})
        (letter,) = await dead_letters(bus, 1)
    assert letter.properties["id"] == "bad", "only what cannot be read is stored"
