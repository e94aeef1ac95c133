"""The bug of a handler leaves its traceback in the log, with the id of its message."""

import logging
from collections.abc import Sequence

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.routes import (
    Route,
    call_batch_route,
    call_route,
    event_batch_route,
    event_route,
)
from tests.runtime.rpc.support import NOTED, QUICK, READ, WRITE, Note, Reply, served
from tests.support.waiting import wait_until


async def buggy_answer(_note: Note) -> Reply:
    return Reply(number={}["missing"])


async def buggy_event(_note: Note) -> None:
    await buggy_answer(_note)


async def buggy_batch(notes: Sequence[Note]) -> list[Reply]:
    return [await buggy_answer(note) for note in notes]


async def buggy_events(notes: Sequence[Note]) -> None:
    await buggy_batch(notes)


async def wrong_question(_note: Note) -> Reply:
    raise PermanentError("there is no such note")


@pytest.mark.parametrize(
    "route",
    [
        call_route(READ, buggy_answer),
        call_route(WRITE, buggy_answer, retry=QUICK),
        call_batch_route(WRITE, buggy_batch, retry=QUICK),
        event_route(NOTED, buggy_event, retry=QUICK),
        event_batch_route(NOTED, buggy_events, retry=QUICK),
    ],
    ids=["query", "command", "batch of commands", "event", "batch of events"],
)
async def test_a_bug_leaves_a_traceback_with_the_id_of_its_message(
    route: Route, caplog: pytest.LogCaptureFixture
) -> None:
    await handle_one(route, caplog)

    record = caplog.records[-1]
    assert record.levelno == logging.ERROR
    assert "Message note-7 on" in record.message
    assert vars(record)["message_id"] == "note-7"
    assert record.exc_info is not None
    assert "in buggy_answer" in caplog.text
    assert "KeyError: 'missing'" in caplog.text


async def test_an_error_that_was_raised_on_purpose_needs_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await handle_one(call_route(READ, wrong_question), caplog)

    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is None


async def handle_one(route: Route, caplog: pytest.LogCaptureFixture) -> None:
    bus = MemoryBus()
    async with served(bus, route):
        await bus.publish(
            Address(route.topic.name, persistent=route.topic.persistent),
            Note(key="k", number=7).model_dump_json().encode(),
            key="k",
            properties={"id": "note-7"},
        )
        await wait_until(lambda: "after" in caplog.text)
