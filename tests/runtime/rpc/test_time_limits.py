"""A handler that takes longer than its time limit is ended, and its message retried."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc import attempts
from fourtier.runtime.rpc.attempts import RunningAttempts
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.rpc.routes import (
    call_route,
    event_batch_route,
    event_route,
    stream_route,
)
from tests.runtime.rpc.support import (
    NOTED,
    QUICK,
    READ,
    STREAM,
    Note,
    Reply,
    dead_letters,
    publish,
    served,
)
from tests.support.clock import on_its_own_clock
from tests.support.waiting import wait_until

SHORT = Limits(handler_seconds=1, stream_seconds=2)


async def never() -> None:
    await asyncio.Event().wait()


@on_its_own_clock
async def test_a_handler_beyond_its_limit_is_retried_and_then_dead_lettered(bus: MemoryBus) -> None:
    begun = ended = 0

    async def note(_note: Note) -> None:
        nonlocal begun, ended
        begun += 1
        try:
            await never()
        finally:
            ended += 1

    async with served(bus, event_route(NOTED, note, retry=QUICK), limits=SHORT):
        await publish(bus, NOTED, "k", 5)
        (letter,) = await dead_letters(bus, 1)

    assert (begun, ended) == (3, 3)
    assert letter.properties["dead-attempts"] == "3"
    assert letter.properties["dead-error"] == (
        "handler-timeout: the handler of test.noted made no progress for 1 seconds"
    )


@on_its_own_clock
async def test_the_log_shows_where_a_handler_hung(caplog: pytest.LogCaptureFixture) -> None:
    async def read(_note: Note) -> Reply:
        await never()
        return Reply()

    bus = MemoryBus()
    async with served(bus, call_route(READ, read), limits=SHORT), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match="made no progress for 1 second") as raised:
            await caller.call(READ, Note(key="k", number=1))
    assert raised.value.type == "handler-timeout"
    assert "in never" in caplog.text


@on_its_own_clock
async def test_a_batch_with_a_message_that_hangs_does_not_stall_its_topic(bus: MemoryBus) -> None:
    done: list[int] = []

    async def notes(notes: Sequence[Note]) -> None:
        if any(note.number == 3 for note in notes):
            await never()
        done.extend(note.number for note in notes)

    route = event_batch_route(NOTED, notes, retry=QUICK)
    async with served(bus, route, limits=SHORT):
        for number in range(6):
            await publish(bus, NOTED, f"k{number}", number)
        (letter,) = await dead_letters(bus, 1)
        await publish(bus, NOTED, "k", 6)
        await wait_until(lambda: len(done) == 6)

    assert Counter(done) == Counter([0, 1, 2, 4, 5, 6])
    assert letter.properties["dead-attempts"] == "3"


@on_its_own_clock
async def test_a_stream_has_its_limit_between_two_messages(bus: MemoryBus) -> None:

    async def count(note: Note) -> AsyncIterator[Reply]:
        for number in range(note.number):
            await asyncio.sleep(1.5)
            yield Reply(number=number, last=False)
        await never()

    async with served(bus, stream_route(STREAM, count), limits=SHORT), open_caller(bus) as caller:
        stream = caller.stream(STREAM, Note(key="k", number=5))
        assert [(await anext(stream)).number for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(CallFailedError, match="made no progress for 2 seconds"):
            await anext(stream)


@on_its_own_clock
async def test_a_route_can_have_a_limit_of_its_own(bus: MemoryBus) -> None:

    async def read(note: Note) -> Reply:
        await asyncio.sleep(1.5)
        return Reply(number=note.number)

    route = call_route(READ, read, timeout=2)
    async with served(bus, route, limits=SHORT), open_caller(bus) as caller:
        assert (await caller.call(READ, Note(key="k", number=7))).number == 7


@on_its_own_clock
async def test_the_error_of_a_handler_that_waits_for_something_else_is_its_own() -> None:
    running = RunningAttempts(limit=10)
    with pytest.raises(TimeoutError, match=r"^the model$"):
        async with running.attempt("test.read"):
            raise TimeoutError("the model")


@on_its_own_clock
async def test_a_handler_that_ignores_the_end_of_its_limit_hangs() -> None:
    running, released = RunningAttempts(limit=1), asyncio.Event()

    async def stubborn() -> None:
        async with running.attempt("test.read"):
            while not released.is_set():
                try:
                    await released.wait()
                except asyncio.CancelledError:
                    continue

    attempt = asyncio.create_task(stubborn())
    await asyncio.sleep(attempts._GRACE)
    assert running.hanging() == []
    await asyncio.sleep(2)
    assert running.hanging() == ["test.read"]
    released.set()
    await attempt
    assert running.hanging() == []
