"""A query that is asked again while nobody can answer it."""

import asyncio
from dataclasses import replace

import pytest

from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError, PermanentError, UnavailableError
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.repeating import ask_until_answered
from fourtier.runtime.rpc.retry import NEVER
from fourtier.runtime.rpc.routes import call_route
from tests.runtime.rpc.support import READ, FailingBus, Note, Reply, served
from tests.support.listening import listening

#: Its deadline is over before anybody answers.
IMPATIENT = replace(READ, deadline=0.02)
#: Is asked once, however slow the machine is.
PATIENT = replace(READ, deadline=120.0)
QUESTION = Note(key="a", number=7)


async def ask(caller: Caller) -> Reply:
    return await ask_until_answered(caller, IMPATIENT, QUESTION, pause=0.001)


async def read(note: Note) -> Reply:
    return Reply(number=note.number)


async def test_a_service_that_comes_late_is_asked_again(bus: MemoryBus) -> None:
    async with (
        open_caller(bus) as caller,
        listening(bus, READ.topic) as asked,
        asyncio.TaskGroup() as group,
    ):
        answer = group.create_task(ask(caller))
        await asked.take(5)  # a query is sent twice until its deadline
        async with served(bus, call_route(READ, read)):
            assert (await answer).number == 7


async def test_a_bus_that_fails_is_tried_again() -> None:
    bus = FailingBus()
    async with open_caller(bus) as caller, served(bus, call_route(READ, read)):
        bus.fails[READ.topic.name] = 3
        assert (await ask(caller)).number == 7


async def test_an_error_that_stays_is_raised_at_once() -> None:
    bus, asked = MemoryBus(), 0

    async def reject(_note: Note) -> Reply:
        nonlocal asked
        asked += 1
        raise PermanentError("there is none")

    async with open_caller(bus) as caller, served(bus, call_route(READ, reject, retry=NEVER)):
        with pytest.raises(CallFailedError, match="there is none"):
            await ask_until_answered(caller, PATIENT, QUESTION, pause=0.001)
    assert asked == 1


async def test_whoever_asks_says_for_how_long() -> None:
    async with open_caller(MemoryBus()) as caller:
        with pytest.raises((TimeoutError, UnavailableError)):
            async with asyncio.timeout(0.05):
                await ask(caller)
