"""A run that was forgotten is not run again when its request comes again."""

from pathlib import Path

from fourtier.memory.working_memory.records import FORGOTTEN
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.erasure import ERASE_WORKING_MEMORY, EraseRequest
from fourtier.schema.working_memory import Trace
from tests.memory.working_memory.support import append, discard, get, item, steps
from tests.support.flow import running_flow

SERVICES = {"working-memory": {}}


async def erase(caller: Caller) -> int:
    request = EraseRequest(user="ann", everything=True)
    return (await caller.call(ERASE_WORKING_MEMORY, request)).number


async def test_one_that_has_ended_stays_so_without_its_answer(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        await append(flow.caller, [*steps(0, 2), item(2, "answer", "The code is 17.")])
        assert await erase(flow.caller) == 1
        found = await get(flow.caller)
        assert await erase(flow.caller) == 0
        assert await append(flow.caller, steps(0, 1)) == Trace()
    assert found.trace == Trace()
    assert found.answer == FORGOTTEN


async def test_one_that_is_under_way_goes_on_and_leaves_no_answer(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        before = await append(flow.caller, steps(0, 2))
        await erase(flow.caller)
        assert (await get(flow.caller)).trace == before
        assert (await get(flow.caller)).answer is None
        await append(flow.caller, [item(2, "answer", "The code is 17.")])
        await discard(flow.caller)
        found = await get(flow.caller)
    assert found.trace == Trace()
    assert found.answer == FORGOTTEN
