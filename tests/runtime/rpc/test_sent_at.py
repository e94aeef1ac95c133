"""When a message was said: when it was sent for the first time, whatever happened to it since."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from fourtier.operations.dead_letters import replay_dead_letters
from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.envelope import current_envelope, current_envelopes
from fourtier.runtime.rpc.routes import call_route, event_batch_route, event_route
from tests.runtime.rpc.support import (
    NOTED,
    READ,
    SERVICE,
    FailingBus,
    Note,
    Reply,
    publish,
    served,
)
from tests.support.waiting import wait_until

MARCH = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
IN_MICROSECONDS = str(int(MARCH.timestamp()) * 1_000_000 + 123456)


class Times:
    """Takes note of when what it handles was sent."""

    def __init__(self) -> None:
        self.seen: list[datetime] = []
        self.fails = False

    async def note(self, _note: Note) -> None:
        self.seen.append(current_envelope().sent_at)
        if self.fails:
            raise PermanentError("not now")

    async def batch(self, notes: Sequence[Note]) -> None:
        self.seen += [each.sent_at for each in current_envelopes()]
        assert len(current_envelopes()) == len(notes)

    async def number(self, count: int) -> list[datetime]:
        """Wait until so many were handled."""
        await wait_until(lambda: len(self.seen) >= count)
        return self.seen


async def test_messages_of_one_process_have_times_in_their_order() -> None:
    bus, times = MemoryBus(), Times()
    before = datetime.now(UTC)
    async with served(bus, event_route(NOTED, times.note)), open_caller(bus) as caller:
        for number in range(100):
            await caller.publish(NOTED, Note(key="k", number=number))
        seen = await times.number(100)
    assert seen == sorted(set(seen))
    assert before <= seen[0] <= seen[-1] <= datetime.now(UTC) + timedelta(milliseconds=1)


async def test_a_query_that_is_sent_again_has_its_first_time() -> None:
    bus, seen = FailingBus(), list[datetime]()
    bus.loses = {READ.topic.name: 1}

    async def read(_note: Note) -> Reply:
        seen.append(current_envelope().sent_at)
        return Reply(number=1)

    quick = READ.__class__(READ.topic, READ.answer, deadline=1.0)
    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        before = datetime.now(UTC)
        await caller.call(quick, Note(key="k", number=1))
    assert before <= seen[0] < before + timedelta(seconds=0.4)  # it was sent again after 0.5 s


async def test_the_replay_of_a_dead_letter_has_the_time_of_its_message() -> None:
    bus, times = MemoryBus(), Times()
    times.fails = True
    async with served(bus, event_route(NOTED, times.note)):
        await publish(bus, NOTED, "k", 1)  # as a program does that knows nothing of times
        (first,) = await times.number(1)
        times.fails = False
        await wait_until(lambda: _replayed(bus))
        (_, second) = await times.number(2)
    assert first == second


async def _replayed(bus: MemoryBus) -> bool:
    return await replay_dead_letters(bus, SERVICE) == 1


async def test_each_message_of_a_batch_has_its_own_time() -> None:
    bus, times = MemoryBus(), Times()
    payload = Note(key="k", number=1).model_dump_json().encode()
    later = str(int(IN_MICROSECONDS) + 5)
    for sent_at in (IN_MICROSECONDS, later):
        await bus.create_group(Address(NOTED.name), SERVICE)
        await bus.publish(Address(NOTED.name), payload, key="k", properties={"sent-at": sent_at})
    async with served(bus, event_batch_route(NOTED, times.batch, max_batch_size=8)):
        assert await times.number(2) == [MARCH, MARCH + timedelta(microseconds=5)]


@pytest.mark.parametrize("given", ["", "soon", "-5", "9" * 15, "9" * 16, "9" * 5_000])
async def test_a_time_that_is_none_or_in_the_future_is_that_of_the_publication(given: str) -> None:
    bus, times = MemoryBus(), Times()
    async with served(bus, event_route(NOTED, times.note)):
        before = time.time()
        await publish(bus, NOTED, "k", 1, properties={"sent-at": given})
        (seen,) = await times.number(1)
    if given == "9" * 15:  # it is one, in 2001
        assert seen.year == 2001
    else:
        assert before - 0.001 <= seen.timestamp() <= time.time()
