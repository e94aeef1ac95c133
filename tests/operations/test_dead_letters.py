"""Dead letters are listed and counted without harm, and sent again as they were."""

import tracemalloc
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.operations.dead_letters import (
    list_dead_letters,
    read_dead_letters,
    replay_dead_letters,
)
from fourtier.operations.doctor.dead_letters import check_dead_letters
from fourtier.runtime.bus.contract import Address, Bus, BusError, Delivery, Mode, Subscription
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.errors import CallFailedError, PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.rpc.routes import Route, call_route, event_route
from tests.runtime.rpc.support import (
    NOTED,
    SERVICE,
    WRITE,
    FailingBus,
    Note,
    Reply,
    publish,
    served,
)
from tests.support.waiting import wait_until


@pytest.fixture(params=["memory://", "embedded"])
async def bus(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bus]:
    async with open_bus(BusConfig(request.param, "fourtier", "test", tmp_path, 0)) as (bus, _):
        yield bus


def failing(attempted: list[int]) -> Route:
    """Fail permanently at every note, and remember it."""

    async def fail(note: Note) -> None:
        attempted.append(note.number)
        raise PermanentError(f"not {note.number}")

    return event_route(NOTED, fail)


async def dead_letter(bus: Bus, *numbers: int) -> None:
    """Let notes end in the dead-letter queue."""
    seen: list[int] = []
    async with served(bus, failing(seen)):
        await publish(bus, NOTED, "k", *numbers)
        await wait_until(lambda: len(seen) == len(numbers))


async def test_listing_shows_everything_and_removes_nothing(bus: Bus) -> None:
    before = datetime.now(UTC)
    await dead_letter(bus, *range(5))
    after = datetime.now(UTC)

    first = await list_dead_letters(bus, SERVICE)
    second = await list_dead_letters(bus, SERVICE)

    assert [letter.id for letter in first] == [f"k{number}" for number in range(5)]
    assert [letter.id for letter in second] == [letter.id for letter in first]
    letter = first[3]
    assert letter.service == SERVICE
    assert letter.topic == "test.noted"
    assert letter.key == "k"
    assert letter.error == "permanent: not 3"
    assert letter.attempts == 1
    assert before.replace(microsecond=0) <= letter.at <= after
    assert Note.model_validate_json(letter.payload) == Note(key="k", number=3)
    assert set(letter.properties) == {"id", "sent-at"}


async def test_without_dead_letters_the_list_is_empty(bus: Bus) -> None:
    assert await list_dead_letters(bus, SERVICE) == []
    assert await replay_dead_letters(bus, SERVICE) == 0


async def test_replaying_sends_them_again_as_they_were(bus: Bus) -> None:
    await dead_letter(bus, *range(5))
    handled: list[tuple[str, int]] = []

    async def note(note: Note) -> None:
        handled.append((note.key, note.number))

    assert await replay_dead_letters(bus, SERVICE) == 5
    async with served(bus, event_route(NOTED, note)):
        await wait_until(lambda: len(handled) == 5)

    assert handled == [("k", number) for number in range(5)]
    assert await list_dead_letters(bus, SERVICE) == []


async def test_only_the_wanted_ones_are_sent_again(bus: Bus) -> None:
    await dead_letter(bus, *range(5))

    assert await replay_dead_letters(bus, SERVICE, wanted=lambda letter: letter.id == "k2") == 1

    left = await list_dead_letters(bus, SERVICE)
    assert [letter.id for letter in left] == ["k0", "k1", "k3", "k4"]


async def test_one_that_fails_again_is_sent_once_in_a_replay(bus: Bus) -> None:
    await dead_letter(bus, *range(5))
    again: list[int] = []
    async with served(bus, failing(again)):
        assert await replay_dead_letters(bus, SERVICE) == 5
        await wait_until(lambda: len(again) == 5)

    assert [letter.id for letter in await list_dead_letters(bus, SERVICE)] == [
        f"k{number}" for number in range(5)
    ]
    assert again == [0, 1, 2, 3, 4]


async def test_a_replayed_call_sends_no_answer_to_a_caller_that_has_gone() -> None:
    bus = FailingBus()

    async def fail(_note: Note) -> Reply:
        raise PermanentError("no")

    async def accept(note: Note) -> Reply:
        return Reply(number=note.number)

    async with open_caller(bus) as caller:
        async with served(bus, call_route(WRITE, fail)):
            with pytest.raises(CallFailedError):
                await caller.call(WRITE, Note(key="k", number=1))
        answers = bus.published.count(caller.inbox.name)
        await replay_dead_letters(bus, SERVICE)
        async with served(bus, call_route(WRITE, accept)):
            await wait_until(lambda: not bus._topics[Address("test.write")][SERVICE].unacknowledged)

        assert bus.published.count(caller.inbox.name) == answers


async def test_a_malformed_command_comes_back_at_each_replay() -> None:
    bus = MemoryBus()

    async def write(note: Note) -> Reply:
        return Reply(number=note.number)

    async with served(bus, call_route(WRITE, write)):
        await bus.publish(Address("test.write"), b"{}", properties={"id": "1"})
        for _ in range(2):
            (letter,) = await _dead_letters_when_there(bus, 1)
            assert await replay_dead_letters(bus, SERVICE) == 1
        (letter,) = await _dead_letters_when_there(bus, 1)

    assert letter.is_malformed


async def _dead_letters_when_there(bus: Bus, count: int) -> list:  # type: ignore[type-arg]
    async def there() -> bool:
        return len(await list_dead_letters(bus, SERVICE)) == count

    await wait_until(there)
    return await list_dead_letters(bus, SERVICE)


async def test_a_dead_letter_that_cannot_be_sent_stays() -> None:
    bus = FailingBus()
    await dead_letter(bus, 1, 2, 3)
    bus.fails = {"test.noted": 1}

    with pytest.raises(BusError):
        await replay_dead_letters(bus, SERVICE)

    assert len(await list_dead_letters(bus, SERVICE)) == 3
    assert await replay_dead_letters(bus, SERVICE) == 3


async def test_what_another_program_has_put_there_is_shown_and_stays(bus: Bus) -> None:
    await dead_letter(bus, 1)
    await bus.publish(dead_letter_address(SERVICE), b"what is this?", key="?")
    # The mark of a reader that was interrupted.
    await bus.publish(dead_letter_address(SERVICE), b"", properties={"end-mark": "old"})

    ours, foreign = await list_dead_letters(bus, SERVICE)
    assert ours.id == "k1"
    assert (foreign.topic, foreign.error) == ("", "no reason given")
    assert await replay_dead_letters(bus, SERVICE) == 1
    (left,) = await list_dead_letters(bus, SERVICE)
    assert left.payload == b"what is this?"


async def test_counting_holds_no_more_than_the_limit(bus: Bus) -> None:
    await dead_letter(bus, *range(5))
    found = await read_dead_letters(bus, SERVICE, limit=2)
    assert (found.total, found.complete) == (5, True)
    assert [letter.id for letter in found.oldest] == ["k0", "k1"]


async def test_the_doctor_does_not_load_the_payloads_of_all_dead_letters() -> None:
    number, size = 300, 100_000

    class Counted(FailingBus):
        """A bus that makes each payload when it is delivered, as one on a disk does."""

        @asynccontextmanager
        async def subscribe(
            self, address: Address, group: str, mode: Mode
        ) -> AsyncGenerator[Subscription]:
            async with super().subscribe(address, group, mode) as subscription:
                yield _Loading(subscription, size)

    bus = Counted()
    await bus.create_group(dead_letter_address(SERVICE), "operator")
    for each in range(number):
        await bus.publish(dead_letter_address(SERVICE), b"", properties={"id": f"k{each}"})
    tracemalloc.start()
    findings = await check_dead_letters(bus, "shop", [SERVICE])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert findings[0].found.startswith("300, the oldest of ")
    assert peak < 20 * size


class _Loading:
    """A subscription whose payloads take memory only while somebody holds them."""

    def __init__(self, subscription: Subscription, size: int) -> None:
        self._subscription = subscription
        self._size = size

    async def receive(self) -> Delivery:
        return replace(await self._subscription.receive(), payload=bytes(self._size))

    def arrived(self, limit: int) -> Sequence[Delivery]:
        return self._subscription.arrived(limit)


async def test_counting_ends_in_time_and_says_that_there_may_be_more() -> None:
    class Endless(FailingBus):
        """A bus whose mark never comes."""

        async def publish(self, address: Address, payload: bytes, **values: Any) -> None:
            if "end-mark" not in (values.get("properties") or {}):
                await super().publish(address, payload, **values)

    bus = Endless()
    await dead_letter(bus, 1, 2, 3)
    found = await read_dead_letters(bus, SERVICE, within=0.2)
    assert (found.total, found.complete) == (3, False)
