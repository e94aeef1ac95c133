"""What a run may store, and what one answer may hold; and that runs of scopes do not mix."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.memory.working_memory import records
from fourtier.memory.working_memory.compression import MAX_ANSWER_CHARACTERS
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.service import CallFailedError
from fourtier.schema.message import MAX_LONG_TEXT
from tests.memory.working_memory.support import append, get, item, steps
from tests.support.flow import running_flow

#: What the bus takes in one message.
MAX_MESSAGE = 5 * 1024 * 1024


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, {"working-memory": {}}) as flow:
        yield flow.caller


async def test_an_answer_has_the_newest_items_as_far_as_they_fit(caller: Caller) -> None:
    text = "\x01" * MAX_LONG_TEXT  # six bytes for each character, as JSON
    for number in range(6):
        await append(caller, [item(number, "observation", text)], threshold=1_000_000, keep_last=9)

    answer = await get(caller, full=True)

    fit = MAX_ANSWER_CHARACTERS // (MAX_LONG_TEXT + 200)
    assert [each.step for each in answer.trace.items] == list(range(6 - fit, 6))
    assert answer.trace.omitted == 6 - fit
    assert len(answer.model_dump_json()) < MAX_MESSAGE


async def test_a_run_has_a_maximum_number_of_items(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_RUN_ITEMS", 6)
    await append(caller, steps(0, 2))

    with pytest.raises(CallFailedError, match="at most 6 items"):
        await append(caller, steps(2, 3))
    assert (await get(caller, full=True)).trace.items == tuple(steps(0, 2))


async def test_a_run_has_a_maximum_of_characters(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_RUN_CHARACTERS", 10_000)
    with pytest.raises(CallFailedError, match="at most 10000 characters"):
        await append(caller, [item(0, "observation", "word " * 2_000)])
    assert (await get(caller, full=True)).trace.items == ()


async def test_runs_of_two_collections_stay_two_whatever_their_names(caller: Caller) -> None:
    await append(caller, [item(0, "answer", "The secret.")], collection="a", run_id="b/c")

    other = await get(caller, collection="a/b", run_id="c", full=True)
    assert other.answer is None
    assert other.trace.items == ()
