"""The serving loop: order, batches, streams, deadlines."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError, DeadlineExceededError, PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.envelope import current_envelope
from fourtier.runtime.rpc.retry import NEVER
from fourtier.runtime.rpc.routes import (
    call_batch_route,
    call_route,
    event_batch_route,
    event_route,
    stream_route,
)
from tests.runtime.rpc.support import (
    NOTED,
    QUICK,
    READ,
    SLOW,
    STREAM,
    WRITE,
    FailingBus,
    Note,
    Reply,
    dead_letters,
    publish,
    served,
)
from tests.support.clock import on_its_own_clock
from tests.support.waiting import wait_until


async def test_a_key_stays_in_order_while_messages_are_retried(bus: MemoryBus) -> None:
    attempts: Counter[tuple[str, int]] = Counter()
    done: defaultdict[str, list[int]] = defaultdict(list)

    async def note(note: Note) -> None:
        attempts[note.key, note.number] += 1
        if note.number % 3 == 0 and attempts[note.key, note.number] < 3:
            raise ConnectionResetError("try again")
        done[note.key].append(note.number)

    async with served(bus, event_route(NOTED, note, retry=QUICK)):
        await asyncio.gather(*(publish(bus, NOTED, key, *range(20)) for key in "abc"))
        await wait_until(lambda: sum(map(len, done.values())) == 60)

    assert done == {key: list(range(20)) for key in "abc"}
    assert attempts["a", 3] == 3


async def test_different_keys_are_handled_concurrently(bus: MemoryBus) -> None:
    meeting = asyncio.Barrier(8)
    done: list[str] = []

    async def note(note: Note) -> None:
        await meeting.wait()  # passes only when eight handlers are here at once
        done.append(note.key)

    async with served(bus, event_route(NOTED, note, max_concurrency=8)):
        for number in range(8):
            await publish(bus, NOTED, f"k{number}", 1)
        await wait_until(lambda: len(done) == 8)


async def test_max_concurrency_bounds_the_running_handlers(bus: MemoryBus) -> None:
    now = highest = done = 0

    async def note(_note: Note) -> None:
        nonlocal now, highest, done
        now += 1
        highest = max(highest, now)
        await asyncio.sleep(0)
        now -= 1
        done += 1

    async with served(bus, event_route(NOTED, note, max_concurrency=3)):
        for number in range(50):
            await publish(bus, NOTED, f"k{number}", 1)
        await wait_until(lambda: done == 50)

    assert highest == 3


async def test_a_pause_before_a_retry_holds_up_no_other_key(bus: MemoryBus) -> None:
    done: list[str] = []

    async def note(note: Note) -> None:
        if note.key.startswith("bad"):
            raise ConnectionResetError("not now")
        done.append(note.key)

    async with served(bus, event_route(NOTED, note, max_concurrency=2, retry=SLOW)):
        for number in range(20):
            await publish(bus, NOTED, f"bad{number}", 1)
        for number in range(20):
            await publish(bus, NOTED, f"good{number}", 1)
        await wait_until(lambda: len(done) == 20)


async def test_messages_that_have_arrived_are_handled_in_a_batch(bus: MemoryBus) -> None:
    batches: list[list[int]] = []
    first_begun, go_on = asyncio.Event(), asyncio.Event()

    async def notes(notes: Sequence[Note]) -> None:
        batches.append([note.number for note in notes])
        first_begun.set()
        await go_on.wait()

    async with served(bus, event_batch_route(NOTED, notes, max_batch_size=8)):
        await publish(bus, NOTED, "k", 0)
        await first_begun.wait()
        await publish(bus, NOTED, "k", *range(1, 21))
        go_on.set()
        await wait_until(lambda: sum(map(len, batches)) == 21)

    assert batches == [[0], list(range(1, 9)), list(range(9, 17)), list(range(17, 21))]


async def test_a_message_waits_for_one_batch_of_a_flood_with_another_key(bus: MemoryBus) -> None:
    batches: list[list[int]] = []
    first_begun, go_on = asyncio.Event(), asyncio.Event()

    async def notes(notes: Sequence[Note]) -> None:
        batches.append([note.number for note in notes])
        first_begun.set()
        await go_on.wait()

    async with served(bus, event_batch_route(NOTED, notes, max_batch_size=8)):
        await publish(bus, NOTED, "k", 0)
        await first_begun.wait()
        await publish(bus, NOTED, "k", *range(1, 1_001))
        await publish(bus, NOTED, "other", -1, -2)
        go_on.set()
        await wait_until(lambda: sum(map(len, batches)) == 1_003)

    handled = [number for batch in batches for number in batch]
    assert batches[1] == [1, -1, 2, -2, 3, 4, 5, 6]
    assert [number for number in handled if number >= 0] == list(range(1_001))


async def test_a_poisoned_message_does_not_harm_its_batch(bus: MemoryBus) -> None:
    done: Counter[int] = Counter()

    async def write(notes: Sequence[Note]) -> list[Reply]:
        if any(note.number == 13 for note in notes):
            raise ValueError("thirteen")
        done.update(note.number for note in notes)
        return [Reply(number=note.number * 10) for note in notes]

    async with served(bus, call_batch_route(WRITE, write, retry=QUICK)), open_caller(bus) as caller:
        results = await asyncio.gather(
            *(caller.call(WRITE, Note(key=f"k{n % 5}", number=n)) for n in range(20)),
            return_exceptions=True,
        )
        dead = await dead_letters(bus, 1)

    failed = results.pop(13)
    assert isinstance(failed, CallFailedError)
    assert (failed.type, failed.message) == ("ValueError", "thirteen")
    assert [result.number for result in results if isinstance(result, Reply)] == [
        number * 10 for number in range(20) if number != 13
    ]
    assert done == Counter(number for number in range(20) if number != 13)
    assert Note.model_validate_json(dead[0].payload).number == 13
    assert dead[0].properties["dead-attempts"] == "3"


async def test_a_poisoned_message_holds_up_its_own_key_only(bus: MemoryBus) -> None:
    done: list[tuple[str, int]] = []
    mended = False

    async def notes(notes: Sequence[Note]) -> None:
        if not mended and any((note.key, note.number) == ("a", 2) for note in notes):
            raise ConnectionResetError("not now")
        done.extend((note.key, note.number) for note in notes)

    async with served(bus, event_batch_route(NOTED, notes, retry=SLOW)):
        for key in "abc":
            await publish(bus, NOTED, key, 1, 2, 3)
        await wait_until(lambda: len(done) == 7)
        for key in "abc":
            await publish(bus, NOTED, key, 4)
        await wait_until(lambda: len(done) == 9)
    before = list(done)
    mended = True
    async with served(bus, event_batch_route(NOTED, notes)):
        await wait_until(lambda: len(done) == 12)

    assert [number for key, number in before if key == "a"] == [1]
    assert [number for key, number in before if key == "b"] == [1, 2, 3, 4]
    assert done[9:] == [("a", 2), ("a", 3), ("a", 4)]


async def test_a_handler_of_batches_never_runs_twice_at_once(bus: MemoryBus) -> None:
    running = False
    done = 0

    async def notes(notes: Sequence[Note]) -> None:
        nonlocal running, done
        assert not running
        running = True
        await asyncio.sleep(0)
        running = False
        if any(note.number % 10 == 0 for note in notes) and len(notes) > 1:
            raise ValueError("one by one, please")
        done += len(notes)

    async with served(bus, event_batch_route(NOTED, notes, retry=NEVER)):
        await asyncio.gather(*(publish(bus, NOTED, f"k{n}", n) for n in range(100)))
        await wait_until(lambda: done == 100)


async def test_a_batch_handler_must_answer_each_question(bus: MemoryBus) -> None:

    async def forgetful(notes: Sequence[Note]) -> list[Reply]:
        return [Reply(number=note.number) for note in notes[1:]]

    async with (
        served(bus, call_batch_route(WRITE, forgetful, retry=NEVER)),
        open_caller(bus) as caller,
    ):
        with pytest.raises(CallFailedError, match="shorter"):
            await caller.call(WRITE, Note(key="k", number=1))


async def test_a_stream_comes_in_order_and_ends(bus: MemoryBus) -> None:

    async def count(note: Note) -> AsyncIterator[Reply]:
        for number in range(note.number + 1):
            yield Reply(number=number, last=number == note.number)

    async with served(bus, stream_route(STREAM, count)), open_caller(bus) as caller:

        async def ask(number: int) -> list[int]:
            asked = caller.stream(STREAM, Note(key="k", number=number))
            return [reply.number async for reply in asked]

        assert await asyncio.gather(*(ask(number) for number in range(0, 100, 10))) == [
            list(range(number + 1)) for number in range(0, 100, 10)
        ]


async def test_a_stream_that_fails_in_the_middle_ends_with_the_error(bus: MemoryBus) -> None:

    async def count(note: Note) -> AsyncIterator[Reply]:
        yield Reply(number=1, last=False)
        if note.number:
            raise ValueError("no more numbers")

    async with served(bus, stream_route(STREAM, count)), open_caller(bus) as caller:
        for number, reason in ((1, "no more numbers"), (0, "ended before its last message")):
            parts = caller.stream(STREAM, Note(key="k", number=number))
            assert (await anext(parts)).number == 1
            with pytest.raises(CallFailedError, match=reason):
                await anext(parts)


async def test_an_expired_query_is_dropped_and_an_expired_command_is_not(bus: MemoryBus) -> None:
    read: list[int] = []
    written: list[int] = []

    async def on_query(note: Note) -> Reply:
        read.append(note.number)
        return Reply(number=note.number)

    async def on_command(note: Note) -> Reply:
        written.append(note.number)
        return Reply(number=note.number)

    late = {"timeout-ms": "0", "reply-to": "inbox.gone"}
    payload = Note(key="k", number=1).model_dump_json().encode()
    async with served(bus, call_route(READ, on_query), call_route(WRITE, on_command)):
        await bus.publish(Address(READ.topic.name, persistent=False), payload, properties=late)
        await bus.publish(Address(WRITE.topic.name), payload, key="k", properties=late)
        async with open_caller(bus) as caller:
            await caller.call(READ, Note(key="k", number=2))
            await caller.call(WRITE, Note(key="k", number=2))

    assert read == [2]
    assert written == [1, 2]


@pytest.mark.parametrize("given", ["²", "9" * 5_000, "-1", "soon", ""])
async def test_an_invalid_timeout_is_ignored(given: str, bus: MemoryBus) -> None:
    seen: list[str] = []

    async def read(_note: Note) -> Reply:
        seen.append(current_envelope().id)
        return Reply()

    payload = Note(key="k", number=1).model_dump_json().encode()
    async with served(bus, call_route(READ, read)):
        await bus.publish(
            Address(READ.topic.name, persistent=False),
            payload,
            properties={"timeout-ms": given, "id": "mine"},
        )
        await wait_until(lambda: seen == ["mine"])


@on_its_own_clock
async def test_a_lost_query_is_retried_once_and_a_lost_command_is_not() -> None:
    bus = FailingBus()
    bus.loses = {"test.read": 1, "test.write": 1}
    quick_read = READ.__class__(READ.topic, READ.answer, deadline=0.2)
    quick_write = WRITE.__class__(WRITE.topic, WRITE.answer, deadline=0.2)

    async def reply(note: Note) -> Reply:
        return Reply(number=note.number)

    async with (
        served(bus, call_route(READ, reply), call_route(WRITE, reply)),
        open_caller(bus) as caller,
    ):
        assert (await caller.call(quick_read, Note(key="k", number=7))).number == 7
        with pytest.raises(DeadlineExceededError, match=r"test\.write within 0\.2 seconds"):
            await caller.call(quick_write, Note(key="k", number=7))

    assert bus.published.count("test.read") == 2
    assert bus.published.count("test.write") == 1


@on_its_own_clock
async def test_a_deadline_error_names_the_topic() -> None:
    async with open_caller(MemoryBus()) as caller:
        with pytest.raises(DeadlineExceededError, match=r"test\.read .* is its service running\?"):
            await caller.call(READ.__class__(READ.topic, READ.answer, 0.05), Note(key="", number=1))


async def test_a_handler_sees_the_envelope_of_its_own_message_only(bus: MemoryBus) -> None:
    seen: set[tuple[str, str]] = set()
    meeting = asyncio.Barrier(4)

    async def note(note: Note) -> None:
        await meeting.wait()
        seen.add((f"{note.key}{note.number}", current_envelope().id))

    async with served(bus, event_route(NOTED, note)):
        for key in "abcd":
            await publish(bus, NOTED, key, 1)
        await wait_until(lambda: len(seen) == 4)

    assert seen == {(f"{key}1", f"{key}1") for key in "abcd"}
    with pytest.raises(LookupError):
        current_envelope()


async def test_an_answer_of_another_model_is_an_error() -> None:
    class Other(Reply):
        number: str = "no number"  # type: ignore[assignment]

    bus = MemoryBus()

    async def read(_note: Note) -> Reply:
        return Other()

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        with pytest.raises(PermanentError, match=r"test\.read answered what is not a Reply"):
            await caller.call(READ, Note(key="k", number=1))
