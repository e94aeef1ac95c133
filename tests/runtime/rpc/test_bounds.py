"""What strangers send does not grow the memory, and is not published where they want."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.bus.contract import Address, Delivery
from fourtier.runtime.errors import LostAnswerError
from fourtier.runtime.rpc import pending_call
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.envelope import Envelope
from fourtier.runtime.rpc.heartbeat import Heartbeats
from fourtier.runtime.rpc.routes import Route, call_batch_route, call_route, stream_route
from tests.runtime.rpc.support import (
    DURABLE,
    READ,
    STREAM,
    WRITE,
    FailingBus,
    Note,
    Reply,
    dead_letters,
    served,
)
from tests.support.clock import on_its_own_clock
from tests.support.waiting import wait_until

NOT_AN_INBOX = [
    "facts.list",
    "inbox.",
    "inbox.a/../facts.list",
    "persistent://other/space/inbox.a",
    "inbox." + "a" * 65,
    "inbox.a\n",
    "box.1",
]


async def answer(note: Note) -> Reply:
    return Reply(number=note.number)


async def answers(notes: list[Note]) -> list[Reply]:
    return [Reply(number=note.number) for note in notes]


async def stream(note: Note) -> AsyncIterator[Reply]:
    yield Reply(number=note.number)


@pytest.mark.parametrize(
    "route",
    [
        call_route(READ, answer),
        call_route(WRITE, answer),
        call_batch_route(WRITE, answers),
        stream_route(STREAM, stream, max_in_flight=1),
    ],
    ids=["query", "command", "batch", "stream"],
)
async def test_a_reply_to_that_is_not_an_inbox_is_malformed(
    route: Route, caplog: pytest.LogCaptureFixture
) -> None:
    bus = FailingBus()
    payload = Note(key="k", number=1).model_dump_json().encode()
    address = Address(route.topic.name, persistent=route.topic.persistent)
    async with served(bus, route):
        for number, reply_to in enumerate(NOT_AN_INBOX):
            properties = {"id": str(number), "reply-to": reply_to, "heartbeat": "true"}
            await bus.publish(address, payload, key=f"k{number}", properties=properties)
        await wait_until(lambda: caplog.text.count("its reply-to must be inbox.") == 7)
        dead = await dead_letters(bus, 7) if route.topic.persistent else []

    assert {letter.properties["id"] for letter in dead} <= {str(n) for n in range(7)}
    for letter in dead:
        assert letter.properties["dead-error"].startswith("malformed: its reply-to must be inbox.")
    assert set(bus.published) == {address.name} | ({"dead-letters.test"} if dead else set())


def test_an_id_of_any_size_is_cut() -> None:
    received = Envelope.of(_delivery({"id": "i" * 1_000_000, "call": "c" * 1_000_000}))
    assert (len(received.id), len(received.call)) == (512, 512)


async def test_a_reason_of_any_size_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_note: Note) -> Reply:
        raise ValueError("x" * 1_000_000)

    bus = FailingBus()
    caplog.set_level(logging.CRITICAL)  # the traceback quotes it in full
    async with served(bus, call_route(READ, fail)), open_caller(bus) as caller:
        with pytest.raises(Exception, match=r"x{100}") as raised:
            await caller.call(READ, Note(key="k", number=1))
    assert len(str(raised.value)) < 2_100


@on_its_own_clock
async def test_answers_that_nobody_reads_are_dropped_and_the_stream_fails() -> None:
    bus = FailingBus()
    unread = pending_call._MAX_UNREAD + 100
    all_sent = asyncio.Event()

    async def flood(_note: Note) -> AsyncIterator[Reply]:
        for number in range(unread):
            yield Reply(number=number, last=False)
        all_sent.set()
        yield Reply(number=unread, last=True)

    async with served(bus, stream_route(DURABLE, flood)), open_caller(bus) as caller:
        parts = caller.stream(DURABLE, Note(key="k", number=1))
        await anext(parts)
        await all_sent.wait()
        with pytest.raises(LostAnswerError):
            async for _ in parts:
                pass


def test_heartbeats_forget_what_has_ended() -> None:
    heartbeats = Heartbeats(FailingBus())
    for number in range(1_000):
        properties = {"id": str(number), "reply-to": "inbox.a", "heartbeat": "true"}
        received = Envelope.of(_delivery(properties))
        assert heartbeats.begin(received)
        heartbeats.end(received)
    assert heartbeats._waiting == {}


def _delivery(properties: dict[str, str]) -> Delivery:
    async def acknowledge() -> None:
        """Do nothing."""

    return Delivery("1:2", b"", properties, "k", time.time(), False, acknowledge)
