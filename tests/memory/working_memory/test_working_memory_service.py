"""The working-memory service end to end, over a bus and a graph that are real."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.working_memory import Trace
from tests.memory.working_memory.support import append, discard, found, get, item, step, steps
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

SERVICES = {"working-memory": {}}
EMPTY = Trace()


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, SERVICES) as flow:
        yield flow.caller


async def test_an_unknown_run_has_an_empty_trace_and_no_answer(caller: Caller) -> None:
    answered = await get(caller)

    assert answered.trace == EMPTY
    assert answered.answer is None


async def test_what_is_appended_comes_back_as_it_was(caller: Caller) -> None:
    one = step(0, 'He said: "it\'s\\n 5 €" -- 你好 \U0001f600\n\t{x: $scope} \0.')
    appended = await append(caller, one[:2])
    assert appended.items == tuple(one[:2])

    appended = await append(caller, one[2:])

    assert appended.items == tuple(one)
    assert (await get(caller)).trace == appended


async def test_nothing_appended_only_reads(caller: Caller) -> None:
    assert await append(caller, []) == EMPTY
    trace = await append(caller, steps(0, 2))

    assert await append(caller, []) == trace


async def test_items_stand_in_order_however_they_arrive(caller: Caller) -> None:
    for each in reversed(steps(0, 3)):
        trace = await append(caller, [each])

    assert trace.items == tuple(steps(0, 3))


async def test_a_repeated_append_changes_nothing(caller: Caller) -> None:
    first = await append(caller, steps(0, 3))

    assert await append(caller, steps(0, 3)) == first
    assert await append(caller, step(1)) == first
    assert (await get(caller, full=True)).trace == first


async def test_an_item_with_a_known_id_replaces_it(caller: Caller) -> None:
    await append(caller, step(0))

    trace = await append(caller, [item(0, "observation", "Better seen.")])

    assert [each.content for each in trace.items][2:] == ["Better seen."]


async def test_many_runs_at_once_are_handled_in_a_batch_and_stay_apart(caller: Caller) -> None:
    traces = await asyncio.gather(
        *(append(caller, step(n), run_id=f"r{n}", user=f"u{n % 3}") for n in range(40))
    )

    assert [trace.items for trace in traces] == [tuple(step(n)) for n in range(40)]


async def test_two_users_with_one_run_id_have_two_runs(caller: Caller) -> None:
    await append(caller, step(0, "of ann"), user="ann")
    await append(caller, [*step(0, "of bob"), item(1, "answer", "Bob's.")], user="bob")
    await append(caller, step(0, "at work"), user="ann", collection="work")

    assert (await get(caller, user="ann")).trace.items == tuple(step(0, "of ann"))
    assert (await get(caller, user="ann")).answer is None
    assert (await get(caller, collection="work")).trace.items == tuple(step(0, "at work"))
    assert await discard(caller, user="bob") == 4
    assert len((await get(caller, user="ann")).trace.items) == 3


async def test_a_trace_past_its_threshold_comes_back_condensed_and_stays_whole_on_disk(
    caller: Caller,
) -> None:
    await append(caller, steps(0, 5), threshold=250)
    trace = await append(caller, steps(5, 10), threshold=250)

    assert trace.items[-6:] == tuple(steps(8, 10))
    assert trace.tokens < 250
    for number in range(8):
        assert found(number) in trace.condensed
    assert (await get(caller)).trace == trace
    full = (await get(caller, full=True)).trace
    assert (full.condensed, full.items) == ("", tuple(steps(0, 10)))


async def test_a_repeated_append_of_condensed_steps_changes_nothing(caller: Caller) -> None:
    trace = await append(caller, steps(0, 10), threshold=250)

    assert await append(caller, steps(0, 4), threshold=250) == trace


async def test_a_condensed_step_that_changes_is_condensed_again(caller: Caller) -> None:
    await append(caller, steps(0, 10), threshold=250)

    trace = await append(caller, step(0, "It was 99,999 dollars."), threshold=250)

    assert "99,999" in trace.condensed
    assert found(1) in trace.condensed


async def test_an_answer_marks_the_end_of_the_run(caller: Caller) -> None:
    await append(caller, step(0))
    assert (await get(caller)).answer is None
    await append(caller, [item(1, "answer", "")])
    assert (await get(caller)).answer == ""

    await append(caller, [item(1, "answer", "1,700 dollars.")])

    answered = await get(caller)
    assert answered.answer == "1,700 dollars."
    assert len(answered.trace.items) == 4


async def test_discarding_drops_the_steps_and_keeps_the_answer(caller: Caller) -> None:
    await append(caller, [*steps(0, 10), item(10, "answer", "Done.")], threshold=250)

    assert await discard(caller) == 31

    answered = await get(caller, full=True)
    assert (answered.trace, answered.answer) == (EMPTY, "Done.")
    assert await discard(caller) == 0
    assert (await get(caller)).answer == "Done."


async def test_an_append_that_comes_again_after_the_discard_brings_nothing_back(
    caller: Caller,
) -> None:
    await append(caller, [*step(0), item(1, "answer", "Done.")])
    await discard(caller)

    assert await append(caller, step(0)) == EMPTY
    assert (await get(caller, full=True)).trace == EMPTY


async def test_discarding_a_run_without_an_answer_leaves_nothing(caller: Caller) -> None:
    assert await discard(caller) == 0
    await append(caller, step(0))

    assert await discard(caller) == 3
    assert await discard(caller) == 0
    assert (await append(caller, step(5))).items == tuple(step(5))


async def test_answers_and_traces_are_forgotten_in_time(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        await append(flow.caller, [*step(0), item(1, "answer", "Done.")], run_id="answered")
        await discard(flow.caller, run_id="answered")
        await append(flow.caller, step(0), run_id="cut off")

    quick = {"sweep-seconds": 0.02, "answer-retention-seconds": 0}
    async with running_flow(tmp_path, {"working-memory": quick}) as flow:

        async def answer_is_gone() -> bool:
            return (await get(flow.caller, run_id="answered")).answer is None

        await wait_until(answer_is_gone)
        assert len((await get(flow.caller, run_id="cut off")).trace.items) == 3

    quick = {"sweep-seconds": 0.02, "trace-retention-seconds": 0.01}
    async with running_flow(tmp_path, {"working-memory": quick}) as flow:

        async def trace_is_gone() -> bool:
            return not (await get(flow.caller, run_id="cut off")).trace.items

        await wait_until(trace_is_gone)


@pytest.mark.cluster
async def test_a_trace_survives_a_restart(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        trace = await append(flow.caller, steps(0, 10), threshold=250)
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        assert (await get(flow.caller)).trace == trace
        assert await append(flow.caller, [], threshold=250) == trace


_DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.support.flow import running_flow
from tests.memory.working_memory.support import append, steps

async def main():
    async with running_flow(Path(sys.argv[1]), {"working-memory": {}}) as flow:
        await append(flow.caller, steps(0, 3))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_was_answered_is_there_after_the_process_was_killed(tmp_path: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _DIES, str(tmp_path), cwd=Path(__file__).parents[3]
    )
    assert await child.wait() == -9

    async with running_flow(tmp_path, SERVICES) as flow:
        assert (await get(flow.caller, full=True)).trace.items == tuple(steps(0, 3))
