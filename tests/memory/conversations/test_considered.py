"""What was considered for a run stays with its record, and is read only where it is asked for."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.archive import FoundBy
from fourtier.schema.conversations import GET_RUN, GetRunRequest, GetRunResponse
from fourtier.schema.tiers import MemoryConsidered
from tests.memory.conversations.support import START, record, run, update
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

FACT = MemoryConsidered(tier="facts", id="f1", shown="whole", rank=1, score=0.5)
ENTRY = MemoryConsidered(
    tier="archive",
    id="a1",
    shown="budget",
    rank=2,
    score=2.25,
    legs={"words": FoundBy(rank=1, score=9.5)},
)


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, {"conversations": {}}) as flow:
        yield flow.caller


async def recorded(caller: Caller, *events: InvocationEnded, number: int) -> None:
    for event in events:
        await caller.publish(INVOCATION_ENDED, event)

    async def there() -> bool:
        return len((await record(caller)).invocations) == number

    await wait_until(there)


def used(run_id: str, minute: int, *considered: MemoryConsidered) -> InvocationEnded:
    return run(run_id, minute=minute).model_copy(update={"considered": considered})


async def read(caller: Caller, run_id: str = "", user: str = "ann") -> GetRunResponse:
    return await caller.call(GET_RUN, GetRunRequest(user=user, run_id=run_id))


async def test_what_was_considered_is_read_by_the_run_and_of_the_newest_one(caller: Caller) -> None:
    await recorded(caller, used("r1", 1, FACT, ENTRY), used("r2", 2, FACT), number=2)
    await update(caller, "imported")

    first, newest = await read(caller, "r1"), await read(caller)
    assert (first.run_id, first.conversation_id, first.question) == ("r1", "c1", "question of r1")
    assert first.timestamp == START.replace(minute=1)
    assert first.considered == (FACT, ENTRY)
    assert (newest.run_id, newest.considered) == ("r2", (FACT,))
    assert "f1" not in str(await record(caller)), "a prompt that has the record has none of it"


async def test_there_is_nothing_of_another_users_run_or_of_one_without_memory(
    caller: Caller,
) -> None:
    await recorded(caller, used("r1", 1, FACT), number=1)
    await update(caller, "imported")

    assert await read(caller, "r1", "bob") == await read(caller, user="bob") == GetRunResponse()
    assert await read(caller, "unknown") == GetRunResponse()
