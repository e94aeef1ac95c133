"""A caller that leaves a stream early ends the work behind it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from fourtier.runtime.bus.contract import Address, BusError, Mode, Subscription
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CancelledByCallerError, DeadlineExceededError
from fourtier.runtime.rpc import heartbeat
from fourtier.runtime.rpc.attempts import RunningAttempts
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.routes import Route, cancel_address, stream_route
from fourtier.runtime.rpc.server import Server
from fourtier.schema.topics import Call
from tests.runtime.rpc.support import DURABLE, STREAM, FailingBus, Note, Reply, dead_letters, served
from tests.support.clock import on_its_own_clock
from tests.support.waiting import wait_until

Stream = Call[Note, Reply]


class Endless:
    """A handler whose answers never end by themselves."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []

    def route(self, call: Stream, *, max_concurrency: int = 16) -> Route:
        return stream_route(call, self._handle, max_concurrency=max_concurrency)

    async def _handle(self, note: Note) -> AsyncIterator[Reply]:
        self.begun.append(note.number)
        try:
            yield Reply(number=note.number, last=False)
            await asyncio.Event().wait()
        finally:
            self.ended.append(note.number)


async def leave_by_break(caller: Caller, call: Stream, note: Note) -> None:
    async for _ in caller.stream(call, note):
        break


async def leave_by_cancelling_the_task(caller: Caller, call: Stream, note: Note) -> None:
    begun = asyncio.Event()

    async def read() -> None:
        async for _ in caller.stream(call, note):
            begun.set()

    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def leave_by_deadline(caller: Caller, call: Stream, note: Note) -> None:
    with pytest.raises(DeadlineExceededError):
        async for _ in caller.stream(replace(call, deadline=1.0), note):
            pass


Leave = Callable[[Caller, Stream, Note], Coroutine[Any, Any, None]]
LEAVE = [leave_by_break, leave_by_cancelling_the_task, leave_by_deadline]


@pytest.mark.parametrize("call", [STREAM, DURABLE], ids=["query", "command"])
@pytest.mark.parametrize("leave", LEAVE)
@on_its_own_clock
async def test_leaving_a_stream_ends_its_handler(
    leave: Leave, call: Stream, bus: MemoryBus
) -> None:
    endless = Endless()
    async with served(bus, endless.route(call)), open_caller(bus) as caller:
        await leave(caller, call, Note(key="k", number=1))
        await wait_until(lambda: endless.ended == [1])
    assert endless.begun == [1]


@on_its_own_clock
async def test_a_cancelled_command_is_acknowledged_and_not_redelivered() -> None:
    bus, endless, after = FailingBus(), Endless(), Endless()
    async with served(bus, endless.route(DURABLE)), open_caller(bus) as caller:
        await leave_by_break(caller, DURABLE, Note(key="k", number=1))
        await wait_until(lambda: endless.ended == [1])
    async with served(bus, after.route(DURABLE)), open_caller(bus) as caller:
        await leave_by_break(caller, DURABLE, Note(key="k", number=2))
    assert after.begun == [2]
    assert "dead-letters.test" not in bus.published


@on_its_own_clock
async def test_cancelling_a_handler_cancels_the_call_that_it_waits_for(bus: MemoryBus) -> None:
    endless = Endless()
    outer_ended = asyncio.Event()
    async with open_caller(bus) as own:

        async def outer(note: Note) -> AsyncIterator[Reply]:
            try:
                async for part in own.stream(STREAM, note):
                    yield part
            finally:
                outer_ended.set()

        async with (
            served(bus, stream_route(DURABLE, outer), endless.route(STREAM)),
            open_caller(bus) as caller,
        ):
            await leave_by_break(caller, DURABLE, Note(key="k", number=1))
            await outer_ended.wait()
            await wait_until(lambda: endless.ended == [1])


@pytest.mark.parametrize("call", [STREAM, DURABLE], ids=["query", "command"])
@on_its_own_clock
async def test_a_cancelled_question_in_the_queue_is_never_begun(call: Stream) -> None:
    bus, endless = FailingBus(), Endless()
    async with (
        served(bus, endless.route(call, max_concurrency=1)),
        open_caller(bus) as caller,
    ):
        first = caller.stream(call, Note(key="k", number=1))
        await anext(first)
        queued = asyncio.create_task(anext(caller.stream(call, Note(key="k", number=2))))
        await wait_until(lambda: bus.published.count(call.topic.name) == 2)
        queued.cancel()
        await asyncio.gather(queued, return_exceptions=True)
        await wait_until(lambda: cancel_address(call.topic).name in bus.published)
        await first.aclose()
        await leave_by_break(caller, call, Note(key="k", number=3))
        await wait_until(lambda: endless.ended == [1, 3])
    assert endless.begun == [1, 3]


@on_its_own_clock
async def test_a_copy_of_a_cancelled_question_is_never_begun() -> None:
    bus, endless = FailingBus(), Endless()
    async with served(bus, endless.route(DURABLE)), open_caller(bus) as caller:
        stream = caller.stream(DURABLE, Note(key="k", number=1), message_id="same")
        await anext(stream)
        (call,) = [asked.properties["call"] for asked in caller._pending.values()]
        await bus.publish(
            Address(DURABLE.topic.name),
            Note(key="k", number=2).model_dump_json().encode(),
            key="k",
            properties={"id": "same", "call": call, "retry": "true"},
        )
        await stream.aclose()
        await leave_by_break(caller, DURABLE, Note(key="k", number=3))
        await wait_until(lambda: endless.ended == [1, 3])
    assert endless.begun == [1, 3]


@on_its_own_clock
async def test_a_later_call_with_the_same_id_is_not_cancelled(bus: MemoryBus) -> None:
    endless = Endless()
    async with served(bus, endless.route(DURABLE)), open_caller(bus) as caller:
        for number in (1, 2):
            note = Note(key="k", number=number)
            stream = caller.stream(DURABLE, note, message_id="same")
            assert (await anext(stream)).number == number
            await stream.aclose()
    assert endless.begun == [1, 2]


@on_its_own_clock
async def test_a_cancelled_question_in_the_queue_has_no_more_heartbeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heartbeat, "_INTERVAL", 0.01)
    bus, endless = FailingBus(), Endless()

    def heartbeats_to(caller: Caller) -> int:
        return bus.published.count(caller.inbox.name)

    async with (
        served(bus, endless.route(STREAM, max_concurrency=1)),
        open_caller(bus) as first,
        open_caller(bus) as second,
    ):
        stream = first.stream(STREAM, Note(key="k", number=1))
        await anext(stream)
        queued = asyncio.create_task(anext(second.stream(STREAM, Note(key="k", number=2))))
        await wait_until(lambda: heartbeats_to(second) > 3)
        queued.cancel()
        await asyncio.gather(queued, return_exceptions=True)
        await wait_until(lambda: cancel_address(STREAM.topic).name in bus.published)
        before, until = heartbeats_to(second), heartbeats_to(first) + 20
        await wait_until(lambda: heartbeats_to(first) > until)
        assert heartbeats_to(second) <= before + 1  # one may have been on its way
        await stream.aclose()


@on_its_own_clock
async def test_a_cancellation_that_meets_the_time_limit_does_no_harm() -> None:
    attempts = RunningAttempts(limit=1.0)
    cancelled, go_on = asyncio.Event(), asyncio.Event()

    async def stubborn() -> None:
        async with attempts.attempt("test.stream", "call") as scope:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                await go_on.wait()
                scope.progress()
                raise

    attempt = asyncio.create_task(stubborn())
    await cancelled.wait()
    attempts.cancel("call")
    go_on.set()
    with pytest.raises(CancelledByCallerError):
        await attempt
    assert attempts.hanging() == []


async def test_a_lost_subscription_to_cancellations_ends_the_service() -> None:
    class Gone(MemoryBus):
        @asynccontextmanager
        async def subscribe(
            self, address: Address, group: str, mode: Mode
        ) -> AsyncGenerator[Subscription]:
            async with super().subscribe(address, group, mode) as consumer:
                yield _Gone() if address.name.endswith(".cancel") else consumer

    class _Gone:
        async def receive(self) -> Any:
            raise BusError("receiving failed: 8 AlreadyClosed")

        def arrived(self, _limit: int) -> list[Any]:
            return []

    with pytest.raises(BusError, match="receiving failed"):
        await Server(Gone(), "test").serve(Endless().route(STREAM), asyncio.Event())


def test_so_many_cancelled_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourtier.runtime.recent_ids.MAX_IDS", 10)
    attempts = RunningAttempts(limit=1.0)
    for number in range(1_000):
        attempts.cancel(f"call-{number}")
    remembered = [number for number in range(1_000) if f"call-{number}" in attempts._cancelled]
    assert remembered == list(range(990, 1_000))
    assert len(attempts._cancelled) == 10


async def test_a_permanent_failure_of_a_stream_still_goes_to_the_dead_letter_queue(
    bus: MemoryBus,
) -> None:

    async def fail(note: Note) -> AsyncIterator[Reply]:
        yield Reply(number=note.number, last=False)

    async with served(bus, stream_route(DURABLE, fail)), open_caller(bus) as caller:
        with pytest.raises(Exception, match="ended before its last message"):
            async for _ in caller.stream(DURABLE, Note(key="k", number=1)):
                pass
        (letter,) = await dead_letters(bus, 1)
    assert letter.properties["dead-attempts"] == "1"
