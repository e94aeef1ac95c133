"""Memos in the archive: which are stored, how they are found, and when they go."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.schema.archive import (
    ERASE_ARCHIVE,
    OPT_OUT_ARCHIVE,
    SET_MEMO,
    ArchiveMemo,
    ArchivePage,
    SetMemoRequest,
    SetMemoResponse,
)
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OptOutRequest
from tests.memory.archive.documents import part, store
from tests.memory.archive.test_archive_service import archived, search, tell, turn
from tests.memory.memoriser.pages import converse, memos, pages
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}
ANN = Scope("ann", "default")


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


async def closed(flow: RunningFlow, *conversations: str, words: str = "boat") -> list[ArchivePage]:
    """A closed page for each name of a conversation, in this order."""
    for name in conversations:
        await converse(flow, [f"The {words} of {name}.", "Nice."], conversation_id=name)

    async def are_closed() -> bool:
        found = {page.source: page for page in await pages(flow)}
        return all(found[name].closed for name in conversations)

    await wait_until(are_closed)
    found = {page.source: page for page in await pages(flow)}
    return [found[name] for name in conversations]


async def write(
    flow: RunningFlow, page: ArchivePage, content: str, *shown: ArchiveMemo, **other: Any
) -> SetMemoResponse:
    fields: dict[str, Any] = {
        "user": "ann",
        "page_id": page.id,
        "page_hash": page.page_hash,
        "content": content,
        "method": "llm",
        "shown": tuple(memo.id for memo in shown),
    }
    return await flow.caller.call(SET_MEMO, SetMemoRequest(**fields | other))


async def memo_on(flow: RunningFlow, page: ArchivePage) -> ArchiveMemo:
    (found,) = [each for each in await memos(flow) if each.page_id == page.id]
    return found


async def erase(flow: RunningFlow, **selected: Any) -> int:
    return (await flow.caller.call(ERASE_ARCHIVE, EraseRequest(user="ann", **selected))).number


async def contents(flow: RunningFlow, **other: Any) -> list[str]:
    return [memo.content for memo in await memos(flow, **other)]


async def chain(flow: RunningFlow) -> list[ArchivePage]:
    """Pages a, b, c, d; the memo of b was made with that of a, that of c with that of b."""
    a, b, c, d = await closed(flow, "a", "b", "c", "d")
    await write(flow, a, "Memo of a.")
    await write(flow, b, "Memo of b.", await memo_on(flow, a))
    await write(flow, c, "Memo of c.", await memo_on(flow, b))
    await write(flow, d, "Memo of d.")
    return [a, b, c, d]


async def test_a_memo_is_stored_once_for_the_page_as_it_is(flow: RunningFlow) -> None:
    (page,) = await closed(flow, "a")

    assert await write(flow, page, "A boat.") == SetMemoResponse(stored=True)
    again = await write(flow, page, "Another boat.")

    assert (again.stored, again.reason) == (False, "has-memo")
    (memo,) = await memos(flow)
    assert (memo.content, memo.method, memo.page_number) == ("A boat.", "llm", 1)
    assert (await pages(flow))[0].memo == memo


async def test_a_memo_of_what_the_page_said_before_is_rejected(flow: RunningFlow) -> None:
    (page,) = await closed(flow, "a")
    assert await erase(flow, ids=("a-1",)) == 1

    late = await write(flow, page, "The boat of a.")

    assert (late.stored, late.reason) == (False, "page-changed")
    assert await memos(flow) == []
    assert await memos(flow, query="boat") == []


async def test_no_memo_is_stored_of_an_open_page_or_somebody_elses(flow: RunningFlow) -> None:
    (page,) = await closed(flow, "a")
    await tell(flow, turn(9, "Still open.", conversation_id="open"))
    await archived(flow, 3)
    (still_open,) = [each for each in await pages(flow) if not each.closed]

    assert (await write(flow, still_open, "Open.")).reason == "no-page"
    assert (await write(flow, page, "Bob's.", user="bob")).reason == "no-page"
    assert await memos(flow) == await memos(flow, "bob") == []


async def test_a_memo_that_was_shown_what_is_gone_is_rejected(flow: RunningFlow) -> None:
    a, b = await closed(flow, "a", "b")
    await write(flow, a, "Memo of a.")
    shown = await memo_on(flow, a)
    await erase(flow, ids=("a-1",))
    (a_now,) = [each for each in await pages(flow) if each.source == "a"]
    await write(flow, a_now, "Another memo of a.")

    late = await write(flow, b, "Memo of b, with words of a.", shown)
    assert (late.stored, late.reason) == (False, "shown-changed")
    assert (await write(flow, b, "Memo of b.", await memo_on(flow, a))).stored
    assert sorted(await contents(flow)) == ["Another memo of a.", "Memo of b."]


async def test_a_shown_memo_of_another_user_does_not_count(flow: RunningFlow) -> None:
    (page,) = await closed(flow, "a")
    await converse(flow, ["Bob's boat.", "Yes."], conversation_id="b", user="bob")
    await wait_until(lambda: _is_closed(flow, "bob"))
    (theirs,) = await pages(flow, "bob")
    await write(flow, theirs, "Bob's memo.", user="bob")
    (bobs,) = await memos(flow, "bob")
    assert (await write(flow, page, "Memo.", bobs)).reason == "shown-changed"


async def _is_closed(flow: RunningFlow, user: str) -> bool:
    return all(page.closed for page in await pages(flow, user))


async def test_forgetting_takes_all_memos_that_may_have_the_words(flow: RunningFlow) -> None:
    a, *_ = await chain(flow)
    assert len(await memos(flow)) == 4

    assert await erase(flow, ids=("a-1",)) == 1

    assert await contents(flow) == ["Memo of d."], "before the answer"
    assert await contents(flow, query="Memo") == ["Memo of d."]
    (a_now,) = [each for each in await pages(flow) if each.source == "a"]
    assert (a_now.entries, a_now.memo) == (1, None)
    assert a_now.page_hash != a.page_hash


async def test_forgetting_in_the_middle_leaves_what_came_before(flow: RunningFlow) -> None:
    await chain(flow)
    await erase(flow, conversation_id="b")
    assert sorted(await contents(flow)) == ["Memo of a.", "Memo of d."]


async def test_a_memo_goes_by_its_own_words_where_no_page_has_them(flow: RunningFlow) -> None:
    a, b = await closed(flow, "a", "b")
    await write(flow, a, "Ann owns a zeppelin.")
    await write(flow, b, "It is that zeppelin's mast.", await memo_on(flow, a))
    assert await erase(flow, containing=("owns a zeppelin",)) == 0
    assert await memos(flow) == []
    assert len(await pages(flow)) == 2


async def test_a_changed_text_takes_the_memo_of_its_page(flow: RunningFlow) -> None:
    await store(flow, part(["One block.", "Two blocks."]))
    (page,) = await pages(flow)
    await write(flow, page, "Of two blocks.")
    await store(flow, part(["One block.", "Three blocks."], version=2))
    assert await memos(flow) == []
    assert (await write(flow, page, "Of two blocks.")).reason == "page-changed"


async def test_a_block_that_comes_in_between_takes_the_memos_of_its_document(
    flow: RunningFlow,
) -> None:
    blocks = [f"Block {number}. {'word ' * 300}" for number in range(4)]
    await store(flow, part(blocks, document="book"))
    before = await pages(flow)
    assert len(before) > 2
    for page in before:
        assert (await write(flow, page, f"Memo {page.number}.")).stored
    (first,) = await search(flow, "Block 1.", legs=("words",), top_k=1)
    await erase(flow, ids=(first.entry.id,))
    assert len(await memos(flow)) < len(before)
    late = datetime.now(UTC) + timedelta(days=1)
    await store(flow, part(blocks, document="book", version=9, timestamp=late))
    assert all(page.memo is None or page.closed for page in await pages(flow))
    for page in await pages(flow):
        if page.memo is not None:
            assert page.memo.page_hash == page.page_hash


async def test_memos_are_listed_newest_first_and_by_their_source(flow: RunningFlow) -> None:
    a, b = await closed(flow, "a", "b")
    await write(flow, a, "Memo of a.")
    await write(flow, b, "Memo of b.")
    blocks = [f"Block {number}. {'word ' * 300}" for number in range(3)]
    await store(flow, part(blocks, document="book"))
    for page in await pages(flow):
        if page.source == "book":
            await write(flow, page, f"Page {page.number} of the book.")

    assert await contents(flow, source="book") == [
        f"Page {number} of the book." for number in (3, 2, 1)
    ]
    assert await contents(flow, source="book", before_page=2) == ["Page 1 of the book."]
    assert await contents(flow, source="book", query="page", before_page=2) == [
        "Page 1 of the book."
    ]
    assert len(await contents(flow, limit=2, offset=1)) == 2
    async with client_on(flow.bus) as client:
        listed = await client.archive.memos(ANN, limit=1)
        assert (len(listed.memos), listed.total) == (1, 5)
        assert (await client.archive.memos(ANN, source="book")).total == 3


async def test_memos_are_found_by_words_and_by_meaning_and_never_as_entries(
    flow: RunningFlow,
) -> None:
    a, b = await closed(flow, "a", "b")
    await write(flow, a, "Torvald fixes the violoncello.")
    await write(flow, b, "The weather stays warm and sunny.")

    assert (await contents(flow, query="violoncello"))[0] == "Torvald fixes the violoncello."
    assert (await contents(flow, query="Is it hot outside?"))[0].startswith("The weather")
    assert await contents(flow, query="violoncello", user="bob") == []
    assert await search(flow, "violoncello", legs=("words", "window")) == []
    assert len(await search(flow, "violoncello", top_k=100)) == 4


async def test_without_embeddings_memos_are_found_by_their_words(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES, namespace="a") as flow:
        (page,) = await closed(flow, "a")
        await write(flow, page, "Torvald fixes the violoncello.")
    lonely = {"archive": {"embedding-seconds": 0.2}}
    async with running_flow(tmp_path, lonely, namespace="a") as flow:
        assert await contents(flow, query="violoncello") == ["Torvald fixes the violoncello."]


async def test_secrets_are_taken_out_of_memos(flow: RunningFlow) -> None:
    (page,) = await closed(flow, "a")
    await write(flow, page, "The card is 4111 1111 1111 1111, use it.")
    (memo,) = await memos(flow)
    assert "4111" not in memo.content
    assert memo.page_hash == page.page_hash


async def test_of_who_has_opted_out_no_memo_is_stored_or_shown(flow: RunningFlow) -> None:
    a, b = await closed(flow, "a", "b")
    await write(flow, a, "Memo of a.")
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=True))
    assert (await write(flow, b, "Memo of b.")).reason == "opted-out"
    assert await memos(flow) == []
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=False))
    assert await contents(flow, query="memo") == ["Memo of a."]
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=True, forget=True))
    await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=False))
    assert await memos(flow) == []


async def test_memos_go_when_what_they_tell_expires(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES, namespace="a") as flow:
        await chain(flow)
    retained = {"embeddings": {}, "archive": {"ttl-days": 1, "sweep-seconds": 3_600}}
    async with running_flow(tmp_path, retained, namespace="a") as flow:
        assert await memos(flow) == []
        assert await memos(flow, query="memo") == []
        assert [page.memo for page in await pages(flow)] == []
