"""What is forgotten leaves the archive, and stays away."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.schema.archive import (
    ERASE_ARCHIVE,
    GET_PAGE,
    OPT_OUT_ARCHIVE,
    SEARCH_ARCHIVE,
    GetPageRequest,
    SearchArchiveRequest,
)
from fourtier.schema.erasure import EraseRequest, EraseResponse
from fourtier.schema.opt_out import OptOutRequest, OptOutResponse
from tests.memory.archive.test_archive_service import (
    START,
    archived,
    pages,
    run,
    search,
    tell,
    turn,
)
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    services: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}
    async with running_flow(tmp_path, services) as running:
        yield running


async def erase(flow: RunningFlow, **selected: Any) -> EraseResponse:
    return await flow.caller.call(ERASE_ARCHIVE, EraseRequest(user="ann", **selected))


async def contents(flow: RunningFlow, query: str, **other: Any) -> set[str]:
    return {hit.entry.content for hit in await search(flow, query, **other)}


@pytest.mark.cluster
async def test_a_deleted_conversation_is_gone_and_does_not_come_back(flow: RunningFlow) -> None:
    gone = [turn(number, f"Violoncello number {number}.") for number in range(3)]
    retained = [
        turn(4, "Another violoncello.", conversation_id="c2"),
        turn(5, "Tom's violoncello.", user="bob"),
    ]
    await tell(flow, *gone, *retained)
    await archived(flow, 4)
    assert (await erase(flow, conversation_id="c1")).number == 3

    await archived(flow, 1)
    await tell(flow, *gone, turn(6, "Still here.", conversation_id="c2"))
    await archived(flow, 2)
    assert await contents(flow, "violoncello", legs=("words",)) == {"Another violoncello."}
    assert {page.source for page in (await pages(flow)).pages} == {"c2"}
    await archived(flow, 1, "bob")


async def test_words_that_are_forgotten_are_in_no_neighbours_window(flow: RunningFlow) -> None:
    await tell(
        flow,
        turn(1, "I like tea."),
        turn(2, "My zeppelin is in hangar 7."),
        turn(3, "Nice."),
        turn(4, "And coffee."),
    )
    await archived(flow, 4)
    would = await erase(flow, containing=("zeppelin is in hangar",), dry_run=True)
    assert [each.content for each in would.erased] == ["My zeppelin is in hangar 7."]
    assert len(await search(flow, "zeppelin", legs=("window",))) == 4

    done = await erase(flow, containing=("zeppelin is in hangar",))

    assert done.erased == would.erased
    assert await search(flow, "zeppelin hangar", legs=("words", "window")) == []
    assert await contents(flow, "tea", legs=("window",)) == {"I like tea.", "Nice.", "And coffee."}
    (page,) = (await pages(flow)).pages
    read = await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", page_id=page.id))
    assert [each.invocation_id for each in read.entries] == ["t1", "t3", "t4"]


async def test_what_is_said_after_its_page_was_emptied_has_a_page(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "First."), turn(2, "Second."))
    await archived(flow, 2)
    assert (await erase(flow, conversation_id="c1")).number == 2
    assert (await pages(flow)).total == 0

    later = START + timedelta(days=30_000)
    again = turn(3, "Third.").model_copy(update={"timestamp": later})
    await tell(flow, again)
    await archived(flow, 1)
    assert await contents(flow, "third") == {"Third."}


async def test_a_whole_scope_goes_and_nobody_elses(flow: RunningFlow) -> None:
    await tell(
        flow,
        turn(1, "Mine."),
        turn(2, "Mine too.", conversation_id="c2"),
        turn(3, "Theirs.", user="bob"),
    )
    await archived(flow, 2)
    await archived(flow, 1, "bob")

    assert (await erase(flow, everything=True)).number == 2

    assert (await pages(flow)).total == 0
    assert await contents(flow, "mine") == set()
    await archived(flow, 1, "bob")


async def test_the_words_of_one_run_go_alone(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "First."), turn(2, "Second."), turn(3, "Third."))
    await archived(flow, 3)
    assert (await erase(flow, ids=("t2",))).number == 1
    await tell(flow, turn(2, "Second."), turn(4, "Fourth."))
    await archived(flow, 3)

    async def there() -> bool:
        return await contents(flow, "anything", legs=("meaning",), top_k=9) == {
            "First.",
            "Third.",
            "Fourth.",
        }

    await wait_until(there)


async def test_all_of_a_run_goes_with_one_part_of_it(flow: RunningFlow) -> None:
    asked = run("r1", "Where did I hide it?", answer="The violoncello is behind the barn.")
    await tell(flow, asked, turn(1, "I like tea."))
    await archived(flow, 3)

    assert (await erase(flow, containing=("behind the barn",))).number == 2

    await tell(flow, asked, turn(2, "I like coffee."))
    await archived(flow, 2)
    assert await contents(flow, "hide barn", legs=("words", "window")) == set()


async def test_of_who_has_opted_out_nothing_is_archived_or_found(flow: RunningFlow) -> None:
    async def opt(**wanted: Any) -> OptOutResponse:
        return await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", **wanted))

    async def found() -> bool:
        answer = await flow.caller.call(
            SEARCH_ARCHIVE, SearchArchiveRequest(user="ann", query="first")
        )
        assert answer.opted_out is not bool(answer.hits)
        return not answer.opted_out

    async def retained() -> set[str]:
        return await contents(flow, "said", legs=("meaning",), top_k=9)

    # The archive is done with what was said first when it has what was said next.
    await tell(flow, turn(1, "First."))
    await archived(flow, 1)
    await tell(flow, turn(2, "On its way."))
    await archived(flow, 2)
    assert (await opt(opted_out=True)).opted_out
    assert not await found()
    await tell(flow, turn(3, "Third."), turn(4, "Bob's.", user="bob"))
    await archived(flow, 1, "bob")

    assert not (await opt(opted_out=False)).opted_out
    assert await found()
    assert {"First."} <= await retained() <= {"First.", "On its way."}
    assert (await opt(opted_out=True, forget=True)).forgotten
    assert (await pages(flow)).total == 0
    await archived(flow, 1, "bob")
