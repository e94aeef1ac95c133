"""Lost questions and answers are retried; a question in flight is handled only once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import DeadlineExceededError, LostAnswerError
from fourtier.runtime.rpc import heartbeat as heartbeats
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.heartbeat import HeartbeatTimeout
from fourtier.runtime.rpc.routes import Route, stream_route
from tests.runtime.rpc.support import DURABLE, STREAM, FailingBus, Note, Reply, served
from tests.support.clock import on_its_own_clock
from tests.support.waiting import wait_until

NOTE = Note(key="k", number=1)
SHORT = HeartbeatTimeout(first=0.05, longest=0.1)


@asynccontextmanager
async def caller_of(bus: MemoryBus, *routes: Route) -> AsyncGenerator[Caller]:
    async with served(bus, *routes), open_caller(bus, SHORT) as caller:
        yield caller


async def count(note: Note) -> AsyncIterator[Reply]:
    for number in range(note.number + 1):
        yield Reply(number=number, last=number == note.number)


@on_its_own_clock
async def test_a_lost_question_is_retried() -> None:
    bus = FailingBus()
    bus.loses[STREAM.topic.name] = 2
    async with caller_of(bus, stream_route(STREAM, count)) as caller:
        assert [reply.number async for reply in caller.stream(STREAM, NOTE)] == [0, 1]


@on_its_own_clock
async def test_a_question_whose_answer_was_lost_is_retried() -> None:
    bus = FailingBus()
    async with caller_of(bus, stream_route(DURABLE, count)) as caller:
        bus.loses[caller.inbox.name] = 2  # both replies of the first time
        assert [reply.number async for reply in caller.stream(DURABLE, NOTE)] == [0, 1]


@on_its_own_clock
async def test_a_question_in_flight_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "_INTERVAL", 0.01)
    bus = FailingBus()
    begun = 0
    gate = asyncio.Event()

    async def slow(note: Note) -> AsyncIterator[Reply]:
        nonlocal begun
        begun += 1
        await gate.wait()
        yield Reply(number=note.number)

    def many_heartbeats() -> bool:
        return sum(name.startswith("inbox.") for name in bus.published) > 20

    async with caller_of(bus, stream_route(STREAM, slow)) as caller:
        answer = asyncio.create_task(anext(aiter(caller.stream(STREAM, NOTE))))
        await wait_until(many_heartbeats)
        gate.set()
        assert (await answer).number == 1

    assert bus.published.count(STREAM.topic.name) == 1
    assert begun == 1


@on_its_own_clock
async def test_a_repeated_question_in_flight_is_handled_once(bus: MemoryBus) -> None:
    begun: list[int] = []
    gate = asyncio.Event()

    async def slow(note: Note) -> AsyncIterator[Reply]:
        begun.append(note.number)
        await gate.wait()
        yield Reply(number=note.number)

    async with caller_of(bus, stream_route(STREAM, slow)) as caller:
        for number in (1, 2, 3):
            properties = {"id": "same", "reply-to": "inbox.test", "heartbeat": "true"}
            note = Note(key="k", number=number).model_dump_json().encode()
            address = Address(STREAM.topic.name, persistent=False)
            await bus.publish(address, note, properties=properties)
        other = asyncio.create_task(anext(aiter(caller.stream(STREAM, Note(key="k", number=4)))))
        await wait_until(lambda: len(begun) == 2)
        gate.set()
        await other

    assert begun == [1, 4]


@on_its_own_clock
async def test_a_stream_without_heartbeats_fails_at_the_heartbeat_timeout() -> None:
    bus = FailingBus()

    async def cut_off(note: Note) -> AsyncIterator[Reply]:
        yield Reply(number=note.number, last=False)
        bus.loses[caller.inbox.name] = 1_000
        yield Reply(number=note.number, last=True)

    async with caller_of(bus, stream_route(STREAM, cut_off)) as caller:
        parts = caller.stream(STREAM, NOTE)
        assert (await anext(parts)).number == 1
        with pytest.raises(DeadlineExceededError):
            await anext(parts)


@on_its_own_clock
async def test_a_lost_part_of_a_stream_is_noticed() -> None:
    bus = FailingBus()

    async def holey(note: Note) -> AsyncIterator[Reply]:
        yield Reply(number=0, last=False)
        bus.loses[caller.inbox.name] = 1
        yield Reply(number=1, last=False)
        yield Reply(number=note.number, last=True)

    async with caller_of(bus, stream_route(STREAM, holey)) as caller:
        parts = caller.stream(STREAM, NOTE)
        assert (await anext(parts)).number == 0
        with pytest.raises(LostAnswerError, match="got lost"):
            await anext(parts)
