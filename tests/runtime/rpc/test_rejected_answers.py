"""What the bus never takes, such as an answer that is too large, becomes a clear error."""

from collections.abc import AsyncIterator

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.errors import CallFailedError, PermanentError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import Route, call_route, event_route, stream_route
from fourtier.schema.message import Answer
from fourtier.schema.topics import Call
from tests.runtime.rpc.support import (
    DURABLE,
    NOTED,
    QUICK,
    READ,
    STREAM,
    WRITE,
    FailingBus,
    Note,
    Reply,
    dead_letters,
    publish,
    served,
)

MEGABYTES = 5_242_880


class Large(Reply):
    """A reply of any size."""

    text: str


def large(note: Note) -> Large:
    return Large(text="x" * (MEGABYTES if note.number else 1))


async def answer(note: Note) -> Large:
    return large(note)


async def stream(note: Note) -> AsyncIterator[Reply]:
    yield Reply(last=False)
    yield large(note)


@pytest.mark.parametrize(
    ("call", "route"),
    [
        (READ, call_route(READ, answer)),
        (WRITE, call_route(WRITE, answer)),
        (STREAM, stream_route(STREAM, stream)),
        (DURABLE, stream_route(DURABLE, stream)),
    ],
    ids=["query", "command", "streamed query", "streamed command"],
)
async def test_an_answer_that_is_too_large_becomes_an_error(
    call: Call[Note, Reply], route: Route, caplog: pytest.LogCaptureFixture
) -> None:
    bus = FailingBus()
    bus.max_sizes = {"inbox.": MEGABYTES}

    async with served(bus, route), open_caller(bus) as caller:

        async def ask(number: int) -> Answer:
            note = Note(key="k", number=number)
            if call.last is None:
                return await caller.call(call, note)
            return [part async for part in caller.stream(call, note)][-1]

        with pytest.raises(CallFailedError, match="ask for less") as raised:
            await ask(1)
        assert (await ask(0)).error is None

    assert raised.value.type == "answer-rejected"
    assert not raised.value.temporary
    assert "5,242,9" in raised.value.message
    assert f"on {call.topic.name} of 5242" in caplog.text
    assert "dead-letters.test" not in bus.published


async def test_an_error_without_an_inbox_that_takes_it_is_not_repeated() -> None:
    bus = FailingBus()
    bus.max_sizes = {"inbox.": 0}
    payload = Note(key="k", number=1).model_dump_json().encode()
    async with served(bus, call_route(READ, answer), event_route(NOTED, _fail, retry=QUICK)):
        await bus.publish(
            Address(READ.topic.name, persistent=False), payload, properties={"reply-to": "inbox.a"}
        )
        await publish(bus, NOTED, "k", 1)
        await dead_letters(bus, 1)
    assert bus.published.count("inbox.a") == 2  # the answer, and the error in its stead


@pytest.mark.parametrize("properties_too", [False, True])
async def test_a_dead_letter_that_is_too_large_has_its_reason(*, properties_too: bool) -> None:
    bus = FailingBus()
    bus.max_sizes = {"dead-letters.": 10}
    bus.max_properties = 0 if properties_too else 100
    async with served(bus, event_route(NOTED, _fail)):
        await publish(bus, NOTED, "k", 1, properties={"a": "x"})
        (letter,) = await dead_letters(bus, 1)
    assert ("a" in letter.properties) != properties_too
    assert letter.payload == b""
    assert letter.properties["id"] == "k1"
    assert letter.properties["dead-error"] == "permanent: nobody may write here"


async def _fail(_note: Note) -> None:
    raise PermanentError("nobody may write here")
