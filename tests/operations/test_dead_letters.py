"""Dead letters are looked at without harm, and sent again as they were."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.operations.dead_letters import list_dead_letters, replay_dead_letters
from fourtier.runtime.bus.contract import Address, Bus, BusError
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.errors import CallFailedError, PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import Route, call_route, event_route

from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from tests.runtime.rpc.support import (
    NOTED,
    READ,
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


def refusing(note_of: list[int]) -> Route:
    """Refuse every note, and remember it."""

    async def refuse(note: Note) -> None:
        note_of.append(note.number)
        raise PermanentError(f"not {note.number}")

    return event_route(NOTED, refuse)


async def bury(bus: Bus, *numbers: int) -> None:
    """Let notes end in the dead letters."""
    seen: list[int] = []
    async with served(bus, refusing(seen)):
        await publish(bus, NOTED, "k", *numbers)
        await wait_until(lambda: len(seen) == len(numbers))


async def test_listing_tells_all_and_takes_nothing_away(bus: Bus) -> None:
    before = datetime.now(UTC)
    await bury(bus, *range(5))
    after = datetime.now(UTC)

    first = await list_dead_letters(bus, SERVICE)
    second = await list_dead_letters(bus, SERVICE)

    assert [letter.id for letter in first] == [f"k{number}" for number in range(5)]
    assert [letter.id for letter in second] == [letter.id for letter in first]
    letter = first[3]
    assert letter.service == SERVICE
    assert letter.topic == "test.noted"
    assert letter.key == "k"
    assert letter.error == "refused: not 3"
    assert letter.attempts == 1
    assert before.replace(microsecond=0) <= letter.at <= after
    assert Note.model_validate_json(letter.payload) == Note(key="k", number=3)
    assert dict(letter.properties) == {"id": "k3"}


async def test_where_there_is_none_the_list_is_empty(bus: Bus) -> None:
    assert await list_dead_letters(bus, SERVICE) == []
    assert await replay_dead_letters(bus, SERVICE) == 0


async def test_replaying_sends_them_again_as_they_were(bus: Bus) -> None:
    await bury(bus, *range(5))
    handled: list[tuple[str, int]] = []

    async def note(note: Note) -> None:
        handled.append((note.key, note.number))

    assert await replay_dead_letters(bus, SERVICE) == 5
    async with served(bus, event_route(NOTED, note)):
        await wait_until(lambda: len(handled) == 5)

    assert handled == [("k", number) for number in range(5)]
    assert await list_dead_letters(bus, SERVICE) == []


async def test_only_those_that_are_wanted_are_sent_again(bus: Bus) -> None:
    await bury(bus, *range(5))

    assert await replay_dead_letters(bus, SERVICE, wanted=lambda letter: letter.id == "k2") == 1

    left = await list_dead_letters(bus, SERVICE)
    assert [letter.id for letter in left] == ["k0", "k1", "k3", "k4"]


async def test_what_fails_again_is_sent_once_in_a_replay(bus: Bus) -> None:
    await bury(bus, *range(5))
    again: list[int] = []
    async with served(bus, refusing(again)):
        assert await replay_dead_letters(bus, SERVICE) == 5
        await wait_until(lambda: len(again) == 5)

    assert [letter.id for letter in await list_dead_letters(bus, SERVICE)] == [
        f"k{number}" for number in range(5)
    ]
    assert again == [0, 1, 2, 3, 4]


async def test_nobody_is_answered_who_does_not_wait_any_more() -> None:
    bus = FailingBus()

    async def refuse(_note: Note) -> Reply:
        raise PermanentError("no")

    async def accept(note: Note) -> Reply:
        return Reply(number=note.number)

    async with open_caller(bus) as caller:
        async with served(bus, call_route(WRITE, refuse)):
            with pytest.raises(CallFailedError):
                await caller.call(WRITE, Note(key="k", number=1))
        answers = bus.published.count(caller.inbox.name)
        await replay_dead_letters(bus, SERVICE)
        async with served(bus, call_route(WRITE, accept)):
            await wait_until(lambda: not bus._topics[Address("test.write")][SERVICE].unacknowledged)

        assert bus.published.count(caller.inbox.name) == answers


async def test_a_malformed_read_goes_back_to_its_own_kind_of_topic() -> None:
    bus = MemoryBus()

    async def read(note: Note) -> Reply:
        return Reply(number=note.number)

    async with served(bus, call_route(READ, read)):
        await bus.publish(Address("test.read", persistent=False), b"{}", properties={"id": "1"})
        for _ in range(2):
            await wait_until(lambda: not bus._topics[_READ][SERVICE].members[0].queue.qsize())
            (letter,) = await _letters_when_there(bus, 1)
            assert not letter.persistent
            assert await replay_dead_letters(bus, SERVICE) == 1
        (letter,) = await _letters_when_there(bus, 1)

    assert letter.error.startswith("malformed")


_READ = Address("test.read", persistent=False)


async def _letters_when_there(bus: Bus, count: int) -> list:  # type: ignore[type-arg]
    async def there() -> bool:
        return len(await list_dead_letters(bus, SERVICE)) == count

    await wait_until(there)
    return await list_dead_letters(bus, SERVICE)


async def test_a_letter_that_cannot_be_sent_stays() -> None:
    bus = FailingBus()
    await bury(bus, 1, 2, 3)
    bus.fails = {"test.noted": 1}

    with pytest.raises(BusError):
        await replay_dead_letters(bus, SERVICE)

    assert len(await list_dead_letters(bus, SERVICE)) == 3
    assert await replay_dead_letters(bus, SERVICE) == 3


async def test_what_others_have_put_there_is_shown_and_left(bus: Bus) -> None:
    await bury(bus, 1)
    await bus.publish(dead_letter_address(SERVICE), b"what is this?", key="?")
    # The mark of a reader that was cut off.
    await bus.publish(dead_letter_address(SERVICE), b"", properties={"end-mark": "old"})

    ours, foreign = await list_dead_letters(bus, SERVICE)
    assert ours.id == "k1"
    assert (foreign.topic, foreign.error) == ("", "no reason given")
    assert await replay_dead_letters(bus, SERVICE) == 1
    (left,) = await list_dead_letters(bus, SERVICE)
    assert left.payload == b"what is this?"
