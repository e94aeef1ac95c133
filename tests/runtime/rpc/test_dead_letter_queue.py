"""A failing message is retried, then stored with its reason; its caller gets the error."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from fourtier.runtime.bus.contract import Address, BusError
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError, PermanentError, UnavailableError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.runtime.rpc.retry import Attempts, Retry
from fourtier.runtime.rpc.routes import Route, call_batch_route, call_route, event_route
from fourtier.schema.message import Error
from tests.runtime.rpc.support import (
    NOTED,
    QUICK,
    READ,
    SERVICE,
    WRITE,
    FailingBus,
    Note,
    Reply,
    dead_letters,
    publish,
    served,
)
from tests.support.waiting import wait_until

MALFORMED = {
    "not text": (b"\xff\xfe\x00", "payload: Invalid JSON"),
    "not JSON": (b"{", "payload: Invalid JSON"),
    "empty": (b"", "payload: Invalid JSON"),
    "a surrogate": (rb'{"key": "\ud800", "number": 1}', "payload: Invalid JSON"),
    "too deep": (b"[" * 100_000, "payload: Invalid JSON"),
    "no object": (b"[1, 2]", "payload: Input should be an object"),
    "missing": (b"{}", "key: Field required; number: Field required"),
    "wrong types": (
        json.dumps({"key": 5, "number": "many"}).encode(),
        "key: Input should be a valid string; number: Input should be a valid integer",
    ),
}


async def reply(note: Note) -> Reply:
    return Reply(number=note.number)


async def replies(notes: Sequence[Note]) -> list[Reply]:
    return [Reply(number=note.number) for note in notes]


@pytest.mark.parametrize(
    "route",
    [call_route(WRITE, reply), call_batch_route(WRITE, replies)],
    ids=["command", "batch"],
)
async def test_a_malformed_command_goes_to_the_dead_letter_queue(
    route: Route, bus: MemoryBus
) -> None:
    async with served(bus, route), open_caller(bus) as caller:
        for name, (payload, _) in MALFORMED.items():
            await bus.publish(Address(route.topic.name), payload, key="k", properties={"id": name})
        assert (await caller.call(WRITE, Note(key="k", number=7))).number == 7
        dead = {
            letter.properties["id"]: letter for letter in await dead_letters(bus, len(MALFORMED))
        }

    for name, (payload, reason) in MALFORMED.items():
        letter = dead[name]
        assert letter.payload == payload
        assert letter.key == "k"
        assert letter.properties["dead-error"].startswith(
            f"malformed: is not a valid Note: {reason}"
        )
        assert letter.properties["dead-topic"] == route.topic.name
        assert letter.properties["dead-persistent"] == "true"
        assert letter.properties["dead-attempts"] == "1"


async def test_a_malformed_query_is_logged_and_not_stored(caplog: pytest.LogCaptureFixture) -> None:
    bus = FailingBus()
    async with served(bus, call_route(READ, reply)), open_caller(bus) as caller:
        for name, (payload, _) in MALFORMED.items():
            address = Address(READ.topic.name, persistent=False)
            await bus.publish(address, payload, key="k", properties={"id": name})
        assert (await caller.call(READ, Note(key="k", number=7))).number == 7

    assert dead_letter_address(SERVICE).name not in bus.published
    for name, (_, reason) in MALFORMED.items():
        (line,) = [each for each in caplog.messages if f"Message {name} on test.read" in each]
        assert f"failed after 1 attempt(s): malformed: is not a valid Note: {reason}" in line


async def test_a_caller_gets_the_reason_for_a_malformed_message() -> None:
    bus = MemoryBus()
    async with served(bus, call_route(READ, reply)), open_caller(bus) as caller:
        # As an old client does that does not know of a new field yet.
        question = Note.model_construct(key="k")
        with pytest.raises(CallFailedError, match="number: Field required") as raised:
            await caller.call(READ, question)

    assert raised.value.type == "malformed"


async def test_a_failing_message_is_retried_and_then_dead_lettered_with_its_reason(
    bus: MemoryBus,
) -> None:
    attempts: list[float] = []

    async def note(_note: Note) -> None:
        attempts.append(asyncio.get_running_loop().time())
        raise ConnectionResetError("the graph is unavailable")

    retry = Retry(attempts=4, first=0.02, cap=0.05)
    async with served(bus, event_route(NOTED, note, retry=retry)):
        await publish(bus, NOTED, "k", 5)
        (letter,) = await dead_letters(bus, 1)

    pauses = [after - before for before, after in pairwise(attempts)]
    assert len(pauses) == 3
    assert pauses[0] >= 0.01
    assert pauses[1] >= 0.02
    assert pauses[2] >= 0.025
    assert letter.properties["dead-error"] == "ConnectionResetError: the graph is unavailable"
    assert letter.properties["dead-attempts"] == "4"
    assert letter.properties["id"] == "k5"
    assert letter.key == "k"
    assert Note.model_validate_json(letter.payload) == Note(key="k", number=5)


def test_the_pauses_grow_up_to_the_cap() -> None:
    retry = Retry(attempts=8, first=0.1, cap=1.0)
    error = ConnectionResetError()
    bounds = [0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]
    for attempt, bound in enumerate(bounds, start=1):
        pause = retry.pause(attempt, error)
        assert pause is not None
        assert bound / 2 <= pause <= bound
    assert retry.pause(8, error) is None
    assert retry.pause(1, PermanentError("no")) is None


_BUSY = Error(type="model-busy", message="come back later", temporary=True)


@pytest.mark.parametrize(
    "error",
    [
        UnavailableError("Qdrant is unavailable"),
        BusError("not sent"),
        CallFailedError("complete", _BUSY),
    ],
)
async def test_an_unavailable_engine_is_waited_for_longer_than_a_failure(error: Exception) -> None:
    bus = FailingBus()
    attempts = 0

    async def note(_note: Note) -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 20:
            raise error

    async with served(bus, event_route(NOTED, note, retry=QUICK)):
        await publish(bus, NOTED, "k", 5)
        await wait_until(lambda: attempts == 20)
    assert dead_letter_address(SERVICE).name not in bus.published


async def test_a_message_is_dead_lettered_when_an_outage_lasts_too_long(bus: MemoryBus) -> None:

    async def note(_note: Note) -> None:
        raise UnavailableError("Qdrant is unavailable")

    async with served(bus, event_route(NOTED, note, retry=replace(QUICK, max_outage=0.02))):
        await publish(bus, NOTED, "k", 5)
        (letter,) = await dead_letters(bus, 1)
    assert letter.properties["dead-error"] == "unavailable: Qdrant is unavailable"


def test_an_outage_does_not_use_up_the_attempts() -> None:
    attempts = Attempts(Retry(attempts=2, first=0.1, cap=1.0))
    for _ in range(50):
        assert attempts.pause(UnavailableError("unavailable")) is not None
    assert attempts.pause(ConnectionResetError()) is not None
    assert attempts.pause(ConnectionResetError()) is None


async def test_a_permanent_failure_is_not_retried(bus: MemoryBus) -> None:
    attempts = 0

    async def write(_note: Note) -> Reply:
        nonlocal attempts
        attempts += 1
        raise PermanentError("nobody may write here")

    async with served(bus, call_route(WRITE, write, retry=QUICK)), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match="nobody may write here") as raised:
            await caller.call(WRITE, Note(key="k", number=1))
        (letter,) = await dead_letters(bus, 1)

    assert attempts == 1
    assert raised.value.type == "permanent"
    assert letter.properties["dead-error"] == "permanent: nobody may write here"


async def test_a_failing_query_is_answered_with_the_error_and_not_stored() -> None:
    bus = FailingBus()
    attempts = 0

    async def read(_note: Note) -> Reply:
        nonlocal attempts
        attempts += 1
        raise ConnectionResetError

    async with served(bus, call_route(READ, read, retry=QUICK)), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match="ConnectionResetError"):
            await caller.call(READ, Note(key="k", number=1))

    assert attempts == 1
    assert "dead-letters.test" not in bus.published


async def test_a_reason_of_any_kind_reaches_the_caller(bus: MemoryBus) -> None:

    async def write(_note: Note) -> Reply:
        raise ValueError("half a character: \ud800 " + "x" * 10_000)

    async with served(bus, call_route(WRITE, write, retry=QUICK)), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match=r"half a character: \? x+"):
            await caller.call(WRITE, Note(key="k", number=1))
        (letter,) = await dead_letters(bus, 1)

    assert len(letter.properties["dead-error"]) == 2_000


async def test_a_message_waits_until_the_dead_letter_queue_can_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourtier.runtime.rpc.results._FIRST_PAUSE", 0.001)
    bus = FailingBus()
    bus.fails = {"dead-letters.test": 3}

    async def note(_note: Note) -> None:
        raise PermanentError("no")

    async with served(bus, event_route(NOTED, note)):
        await publish(bus, NOTED, "k", 1)
        await dead_letters(bus, 1)

    assert bus.published.count("dead-letters.test") == 4


async def test_a_message_that_cannot_be_dead_lettered_stays_for_the_next_start() -> None:
    bus = FailingBus()
    bus.fails = {"dead-letters.test": 1_000_000}

    async def fail(_note: Note) -> None:
        raise PermanentError("no")

    async with served(bus, event_route(NOTED, fail)):
        await publish(bus, NOTED, "k", 1)
        await wait_until(lambda: "dead-letters.test" in bus.published)
    bus.fails = {}
    async with served(bus, event_route(NOTED, fail)):
        (letter,) = await dead_letters(bus, 1)

    assert letter.properties["id"] == "k1"


async def test_an_answer_that_cannot_be_sent_does_not_repeat_the_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = FailingBus()
    bus.fails = {"inbox.unavailable": 1}
    handled: list[int] = []

    async def write(note: Note) -> Reply:
        handled.append(note.number)
        return Reply()

    async with served(bus, call_route(WRITE, write)):
        await bus.publish(
            Address("test.write"),
            Note(key="k", number=1).model_dump_json().encode(),
            key="k",
            properties={"reply-to": "inbox.unavailable"},
        )
        await publish(bus, WRITE.topic, "k", 2)
        await wait_until(lambda: handled == [1, 2])

    assert "An answer to inbox.unavailable could not be sent" in caplog.text


async def test_a_handler_that_cannot_publish_is_retried() -> None:
    bus = FailingBus()
    bus.fails = {"test.noted": 2}
    noted: list[int] = []

    async with open_caller(bus) as caller:

        async def write(note: Note) -> Reply:
            await caller.publish(NOTED, note)
            return Reply(number=note.number)

        async def note(note: Note) -> None:
            noted.append(note.number)

        async with served(bus, call_route(WRITE, write, retry=QUICK), event_route(NOTED, note)):
            assert (await caller.call(WRITE, Note(key="k", number=4))).number == 4
            await wait_until(lambda: noted == [4])


async def test_a_caller_gets_the_error_of_the_bus_at_once() -> None:
    bus = FailingBus()
    bus.fails = {"test.read": 1}
    async with open_caller(bus) as caller:
        with pytest.raises(BusError, match=r"test\.read: not sent"):
            await caller.call(READ, Note(key="k", number=1))
