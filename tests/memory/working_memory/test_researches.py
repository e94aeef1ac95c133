"""The checkpoint of a research: not a run, and deleted with whatever its scope forgets."""

from pathlib import Path

import pytest

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.erasure import ERASE_WORKING_MEMORY, EraseRequest
from fourtier.schema.status import StatusRequest, status_of
from fourtier.schema.working_memory import RESEARCH_STATE, Trace
from tests.memory.working_memory.support import append, get, item, steps
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

SERVICES = {"working-memory": {}}
RESEARCH = f"{RESEARCH_STATE}r1/0"


async def counted(caller: Caller) -> dict[str, int]:
    status = await caller.call(status_of("working-memory"), StatusRequest())
    return {each.kind: each.number for each in status.store_counts}


async def test_it_is_not_counted_or_listed_as_a_run(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        await append(flow.caller, steps(0, 2), run_id=RESEARCH)
        await append(flow.caller, steps(0, 1), run_id="run")
        assert (await counted(flow.caller))["runs"] == 1
        asked = EraseRequest(user="ann", everything=True, dry_run=True)
        would = await flow.caller.call(ERASE_WORKING_MEMORY, asked)
        assert [each.id for each in would.erased] == ["run"]
        assert len((await get(flow.caller, run_id=RESEARCH)).trace.items) > 0


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(
    "selected", [{"ids": ("another",)}, {"containing": ("nothing like it",)}, {"everything": True}]
)
async def test_whatever_its_scope_forgets_it_is_gone_and_takes_no_more(
    tmp_path: Path, selected: dict[str, object], *, ended: bool
) -> None:
    last = [item(2, "answer", "The code is 17.")] if ended else []
    async with running_flow(tmp_path, SERVICES) as flow:
        await append(flow.caller, [*steps(0, 2), *last], run_id=RESEARCH)
        await append(flow.caller, steps(0, 2), run_id=RESEARCH, user="bob")
        asked = EraseRequest.model_validate({"user": "ann", **selected})
        assert (await flow.caller.call(ERASE_WORKING_MEMORY, asked)).number == 0
        assert await append(flow.caller, steps(2, 3), run_id=RESEARCH) == Trace()
        assert (await get(flow.caller, run_id=RESEARCH)).trace == Trace()
        bobs = await get(flow.caller, run_id=RESEARCH, user="bob")
        assert len(bobs.trace.items) > 0


async def test_one_that_has_ended_expires_as_answers_do_and_another_as_traces_do(
    tmp_path: Path,
) -> None:
    services = {"working-memory": {"answer-retention-seconds": 0, "sweep-seconds": 0.05}}
    async with running_flow(tmp_path, services) as flow:
        await append(flow.caller, steps(0, 2), run_id=f"{RESEARCH}/open")
        ended = [*steps(0, 2), item(2, "answer", "ended")]
        await append(flow.caller, ended, run_id=RESEARCH)
        await append(flow.caller, ended, run_id="run")
        left = 2 * len(steps(0, 2)) + 1  # those of the run, whose end may not be published yet

        async def expired() -> bool:
            return (await counted(flow.caller))["items of their traces"] == left

        await wait_until(expired)
        assert (await get(flow.caller, run_id=RESEARCH)).trace == Trace()
        assert len((await get(flow.caller, run_id=f"{RESEARCH}/open")).trace.items) > 0
