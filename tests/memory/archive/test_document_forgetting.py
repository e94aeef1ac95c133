"""Forgetting documents and blocks of them: from the index and from the graph."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.schema.archive import ERASE_ARCHIVE, OPT_OUT_ARCHIVE
from fourtier.schema.erasure import EraseRequest, EraseResponse
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OptOutRequest
from tests.memory.archive.documents import WRITTEN, numbers, pages_of, part, read, store
from tests.memory.archive.test_archive_service import archived, search, tell, turn
from tests.support.flow import RunningFlow, running_flow

ANN = Scope("ann", "default")
SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


async def erase(flow: RunningFlow, **selected: Any) -> EraseResponse:
    return await flow.caller.call(ERASE_ARCHIVE, EraseRequest(user="ann", **selected))


async def test_a_document_that_is_forgotten_does_not_come_back(flow: RunningFlow) -> None:
    old, other = part(["A violoncello.", "B."]), part(["C."], document="other")
    await store(flow, old, other)

    would = await erase(flow, document="handbook", dry_run=True)
    done = await erase(flow, document="handbook")

    assert (would.number, done) == (2, would)
    assert {(each.document, each.conversation_id) for each in done.erased} == {("handbook", "")}
    longer = part(["A violoncello.", "B.", "What was never stored."], version=2)
    assert await numbers(flow, old, longer) == (0, 0, 5, 0)
    assert await pages_of(flow) == []
    assert await search(flow, "violoncello", legs=("words", "window")) == []
    assert await read(flow, "other") == ["C."]


async def test_what_is_written_after_it_was_forgotten_is_new(flow: RunningFlow) -> None:
    await store(flow, part(["A.", "B."]))
    await erase(flow, document="handbook")
    async with client_on(flow.bus) as client:
        await client.archive.import_document(ANN, "handbook", ["New."])
    assert await read(flow) == ["New."]


async def test_a_document_from_the_future_can_be_forgotten_now(flow: RunningFlow) -> None:
    await store(flow, part(["A."], timestamp=WRITTEN + timedelta(days=30_000)))
    assert (await erase(flow, document="handbook")).number == 1
    assert await pages_of(flow) == []


async def test_one_block_goes_alone_and_its_place_stays_empty(flow: RunningFlow) -> None:
    await store(flow, part(["A.", "The zeppelin is here.", "C.", "D."]))
    (hit, *_) = await search(flow, "zeppelin", legs=("words",))

    assert (await erase(flow, ids=(hit.entry.id,))).number == 1

    assert await read(flow) == ["A.", "C.", "D."]
    assert await search(flow, "zeppelin", legs=("words", "window")) == []
    again = part(["A.", "The zeppelin is here.", "C.", "Z."], version=2)
    assert await numbers(flow, again) == (1, 2, 1, 0)
    assert await read(flow) == ["A.", "C.", "Z."]


async def test_a_block_with_a_text_goes_alone(flow: RunningFlow) -> None:
    await store(flow, part(["A.", "My PIN is 1234.", "C."]))
    assert (await erase(flow, containing=("my pin is",))).number == 1
    assert await read(flow) == ["A.", "C."]


async def test_a_block_is_not_named_by_its_number_alone(flow: RunningFlow) -> None:
    await store(flow, part(["A."]), part(["B."], document="other"))
    said = turn(1, "Said.").model_copy(update={"turn_id": "block-0"})
    await tell(flow, said)
    await archived(flow, 3)
    assert [each.content for each in (await erase(flow, ids=("block-0",))).erased] == ["Said."]
    assert await numbers(flow, part(["A."]), part(["B."], document="other")) == (0, 2, 0, 0)


async def test_a_block_that_is_back_stands_in_its_place(flow: RunningFlow) -> None:
    texts = [f"Block {number}. {'word ' * 180}" for number in range(6)]
    await store(flow, part(texts))
    assert (await erase(flow, containing=("Block 1.",))).number == 1
    async with client_on(flow.bus) as client:
        done = await client.archive.import_document(ANN, "handbook", texts)
    assert (done.stored, done.unchanged) == (1, 5)
    assert await read(flow) == texts


async def test_a_name_that_a_conversation_has_too(flow: RunningFlow) -> None:
    await store(flow, part(["Read."], document="c1"))
    await tell(flow, turn(1, "Said."))
    await archived(flow, 2)
    assert [each.content for each in (await erase(flow, conversation_id="c1")).erased] == ["Said."]
    assert await read(flow, "c1") == ["Read."]
    await tell(flow, turn(2, "Said.", conversation_id="c2"))
    await archived(flow, 2)
    assert await numbers(flow, part(["Changed."], document="c1", version=2)) == (1, 0, 0, 0)

    await store(flow, part(["Read."], document="c2"))
    assert [each.content for each in (await erase(flow, document="c2")).erased] == ["Read."]
    await tell(flow, turn(3, "More.", conversation_id="c2"))
    await archived(flow, 3)


async def test_a_deleted_conversation_takes_no_document(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        await store(flow, part(["Read."], document="c1"))
        await tell(flow, turn(1, "Said."))
        await archived(flow, 2)
        await erase(flow, conversation_id="c1")
        await archived(flow, 1)
        assert await read(flow, "c1") == ["Read."]


async def test_of_who_has_opted_out_no_document_is_stored_or_changed(flow: RunningFlow) -> None:
    await store(flow, part(["A.", "B."]))
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=True))
    assert await numbers(flow, part(["Z."], version=2)) == (0, 0, 1, 0)
    assert await read(flow) == ["A.", "B."]
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=False))
    assert await numbers(flow, part(["A."], version=3)) == (0, 1, 0, 1)
