"""The index of memos, and what is stored while what it rests on is forgotten."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.memory.archive.memo_index import MemoIndex
from fourtier.operations.reindexing import reindex_archive
from fourtier.schema.archive import SetMemoResponse
from tests.memory.archive.test_memos import (
    ANN,
    SERVICES,
    chain,
    closed,
    contents,
    erase,
    memo_on,
    write,
)
from tests.memory.memoriser.pages import memos, pages
from tests.support.flow import running_flow


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[MemoIndex]:
    """The indexes that archives open from now on."""
    found: list[MemoIndex] = []
    init = MemoIndex.__init__

    def noted(self: MemoIndex, *arguments: Any) -> None:
        init(self, *arguments)
        found.append(self)

    monkeypatch.setattr(MemoIndex, "__init__", noted)
    return found


def before_first(
    monkeypatch: pytest.MonkeyPatch, method: str, do: Callable[[], Awaitable[Any]]
) -> list[Any]:
    """Have something done before the index of memos is written, or deleted from, for once.

    What came of it is in the list. It counts for flows that are opened behind it.
    """
    original, begun, done = getattr(MemoIndex, method), list[None](), list[Any]()

    async def interrupted(self: MemoIndex, *arguments: Any) -> None:
        if not begun:
            begun.append(None)
            done.append(await do())
        await original(self, *arguments)

    monkeypatch.setattr(MemoIndex, method, interrupted)
    return done


async def points(opened: Sequence[MemoIndex]) -> int:
    return await opened[0]._vectors.count(ANN)


async def test_the_index_of_memos_is_made_from_the_graph(
    tmp_path: Path, opened: list[MemoIndex]
) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        (page,) = await closed(flow, "a")
        await write(flow, page, "Torvald fixes the violoncello.")
        await opened[0]._vectors.delete_scope(ANN)
        assert await contents(flow, query="violoncello") == []
        async with client_on(flow.bus) as client:
            assert await reindex_archive(client) == 2, "entries alone are counted"
        assert await contents(flow, query="violoncello") == ["Torvald fixes the violoncello."]


async def test_no_point_of_a_memo_is_left_that_is_not_there(
    tmp_path: Path, opened: list[MemoIndex]
) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        a, *_ = await chain(flow)
        assert await points(opened) == 4
        await erase(flow, ids=("a-1",))
        assert await points(opened) == 1
        assert not (await write(flow, a, "Late.")).stored
        assert await points(opened) == 1


async def test_a_page_that_is_forgotten_while_its_memo_is_stored_has_none(
    tmp_path: Path, opened: list[MemoIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        (page,) = await closed(flow, "a")
        done = before_first(monkeypatch, "write", lambda: erase(flow, ids=("a-1",)))
        assert (await write(flow, page, "The boat of a.")).reason == "page-changed"
        assert done == [1]
        assert await memos(flow) == []
        assert await points(opened) == 0


async def test_a_shown_memo_that_goes_while_another_is_stored_takes_that_with_it(
    tmp_path: Path, opened: list[MemoIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        a, b = await closed(flow, "a", "b")
        await write(flow, a, "Memo of a.")
        shown = await memo_on(flow, a)
        done = before_first(monkeypatch, "write", lambda: erase(flow, ids=("a-1",)))
        assert (await write(flow, b, "Words of a.", shown)).reason == "shown-changed"
        assert done == [1]
        assert await memos(flow) == []
        assert await points(opened) == 0


async def test_a_memo_that_comes_while_what_it_was_shown_is_forgotten_goes_too(
    tmp_path: Path, opened: list[MemoIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile() -> SetMemoResponse:
        return await write(flow, b, "Words of a.", shown)

    done = before_first(monkeypatch, "delete", meanwhile)
    async with running_flow(tmp_path, SERVICES) as flow:
        a, b = await closed(flow, "a", "b")
        await write(flow, a, "Memo of a.")
        shown = await memo_on(flow, a)
        assert await erase(flow, ids=("a-1",)) == 1
        assert done == [SetMemoResponse(stored=True)]
        assert await memos(flow) == []
        assert await points(opened) == 0


async def test_a_memo_of_a_whole_source_that_is_forgotten_meanwhile_is_not_left_behind(
    tmp_path: Path, opened: list[MemoIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page that the memo is of goes with its source, and the memo that was there with both."""
    async with running_flow(tmp_path, SERVICES) as flow:
        (page,) = await closed(flow, "a")
        done = before_first(monkeypatch, "write", lambda: erase(flow, conversation_id="a"))
        assert (await write(flow, page, "The boat of a.")).reason == "no-page"
        assert done == [2]
        assert (await pages(flow), await memos(flow), await points(opened)) == ([], [], 0)
