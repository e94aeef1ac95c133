"""Processes whose clocks differ get their answers: deadlines are durations."""

from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.heartbeat import HeartbeatTimeout
from fourtier.runtime.rpc.routes import call_route, stream_route
from fourtier.schema.topics import Call, Topic
from tests.runtime.rpc.support import (
    DURABLE,
    READ,
    WRITE,
    FailingBus,
    Note,
    Reply,
    by_key,
    served,
)

#: Its answer is for its caller alone, and the broker stores it all the same: as a research.
ASKED: Call[Note, Reply] = Call(
    Topic("test.asked", Note, key=by_key, for_caller=True), Reply, last=lambda reply: reply.last
)


async def answer(note: Note) -> Reply:
    return Reply(number=note.number)


async def stream(note: Note) -> AsyncIterator[Reply]:
    yield Reply(number=note.number)


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
async def test_clocks_that_differ_by_hours_cost_no_answer(hours: int) -> None:
    bus = FailingBus()
    bus.clock_ahead = hours * 3_600
    note = Note(key="k", number=7)
    async with (
        served(
            bus,
            call_route(READ, answer),
            call_route(WRITE, answer),
            stream_route(DURABLE, stream, max_in_flight=1),
            stream_route(ASKED, stream),
        ),
        open_caller(bus, HeartbeatTimeout(first=0.2)) as caller,
    ):
        assert (await caller.call(READ, note)).number == 7
        assert (await caller.call(WRITE, note)).number == 7
        assert [reply.number async for reply in caller.stream(DURABLE, note)] == [7]
        # It looks as if its caller had gone; that one sends it again as a retry.
        assert [reply.number async for reply in caller.stream(ASKED, note)] == [7]
