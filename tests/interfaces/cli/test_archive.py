"""`fourtier archive search` and `show`: entries with their speakers, dates and ids."""

import json
from datetime import UTC, datetime

import pytest

from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.archive import (
    GET_PAGE,
    LIST_DOCUMENTS,
    LIST_MEMOS,
    LIST_PAGES,
    SEARCH_ARCHIVE,
    ArchiveEntry,
    ArchiveHit,
    ArchiveMemo,
    ArchivePage,
    FoundBy,
    GetPageRequest,
    GetPageResponse,
    ListDocumentsRequest,
    ListDocumentsResponse,
    ListMemosRequest,
    ListMemosResponse,
    ListPagesRequest,
    ListPagesResponse,
    SearchArchiveRequest,
    SearchArchiveResponse,
)
from tests.interfaces.cli.support import Command

SAID_AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
SAID = ArchiveEntry(
    id="e1",
    page_id="p1",
    source="c1",
    speaker="Mia",
    content="One.\n\x1b[2JTwo.",
    timestamp=SAID_AT,
)
READ = ArchiveEntry(
    id="e2",
    page_id="p2",
    source="notes.md",
    source_kind="document",
    speaker="notes.md",
    content="Three.",
    timestamp=SAID_AT,
)
PAGE = ArchivePage(
    id="p1",
    source="c1",
    number=1,
    entries=1,
    tokens=9,
    closed=False,
    started_at=SAID_AT,
    ended_at=SAID_AT,
)


MEMO = ArchiveMemo(
    id="m1",
    page_id="p1",
    page_hash="h",
    source="c1",
    page_number=1,
    content="Two\x1b[2J boats.",
    method="llm",
    model="big",
    started_at=SAID_AT,
    ended_at=SAID_AT,
    made_at=SAID_AT,
)


def searching(*entries: ArchiveEntry) -> Route:
    async def search(request: SearchArchiveRequest) -> SearchArchiveResponse:
        legs = {"words": FoundBy(rank=2, score=0.5)} if request.explain else {}
        hits = tuple(ArchiveHit(entry=each, score=1.0, legs=legs) for each in entries)
        return SearchArchiveResponse(hits=hits, left_out={"meaning": "no vector"})

    return call_route(SEARCH_ARCHIVE, search)


def reading() -> Route:
    async def get(request: GetPageRequest) -> GetPageResponse:
        known = request.page_id == "p1" or request.entry_id == "e1"
        return GetPageResponse(page=PAGE, entries=(SAID,)) if known else GetPageResponse(page=None)

    return call_route(GET_PAGE, get)


def no_documents() -> list[Route]:
    async def documents(_: ListDocumentsRequest) -> ListDocumentsResponse:
        return ListDocumentsResponse(documents=(), total=0)

    async def pages(_: ListPagesRequest) -> ListPagesResponse:
        return ListPagesResponse(pages=(), total=0)

    return [call_route(LIST_DOCUMENTS, documents), call_route(LIST_PAGES, pages)]


def test_entries_are_printed_whole_with_why_they_were_found(fourtier: Command) -> None:
    fourtier.routes = [searching(SAID, READ)]
    assert fourtier("archive", "search", "two", "--user", "ann", "--why") == 0
    assert fourtier.out.splitlines() == [
        "1. Mia (2026-03-01 10:00), c1",
        "   One.",
        "   \\x1b[2JTwo.",
        "   found by words as number 2; e1",
        "2. notes.md (2026-03-01 10:00)",
        "   Three.",
        "   found by words as number 2; e2",
    ]
    assert "not searched by meaning: no vector" in fourtier.err


def test_nothing_found_is_said(fourtier: Command) -> None:
    fourtier.routes = [searching()]
    assert fourtier("archive", "search", "two", "--user", "ann") == 0
    assert fourtier.out == "Nothing found in the archive of ann/default.\n"


def test_json_has_everything(fourtier: Command) -> None:
    fourtier.routes = [searching(SAID)]
    assert fourtier("archive", "search", "two", "--user", "ann", "--json") == 0
    assert json.loads(fourtier.out)[0]["entry"]["content"] == SAID.content


@pytest.mark.parametrize("identity", ["p1", "e1"])
def test_a_page_is_shown_by_its_id_and_by_that_of_an_entry(
    fourtier: Command, identity: str
) -> None:
    fourtier.routes = [reading()]
    assert fourtier("archive", "show", identity, "--user", "ann") == 0
    lines = fourtier.out.splitlines()
    assert "c1, page 1: 1 entry, 2026-03-01 10:00 to 2026-03-01 10:00, open" in lines[0]
    assert lines[1:] == ["1. Mia (2026-03-01 10:00), c1", "   One.", "   \\x1b[2JTwo.", "   e1"]
    assert fourtier("archive", "show", identity, "--user", "ann", "--json") == 0
    assert json.loads(fourtier.out)[0]["id"] == "e1"


def test_a_page_is_shown_and_listed_with_its_memo(fourtier: Command) -> None:
    page = PAGE.model_copy(update={"memo": MEMO})

    async def get(_: GetPageRequest) -> GetPageResponse:
        return GetPageResponse(page=page, entries=(SAID,))

    async def list_pages(_: ListPagesRequest) -> ListPagesResponse:
        return ListPagesResponse(pages=(page,), total=1)

    fourtier.routes = [call_route(GET_PAGE, get), call_route(LIST_PAGES, list_pages)]
    assert fourtier("archive", "show", "p1", "--user", "ann") == 0
    assert fourtier.out.splitlines()[1] == "   Two\\x1b[2J boats. (by big)"
    assert fourtier("archive", "list", "--user", "ann") == 0
    assert "boats." in fourtier.said


def test_memos_are_listed_with_who_made_them_and_how_many_there_are(fourtier: Command) -> None:
    asked: list[ListMemosRequest] = []

    async def list_memos(request: ListMemosRequest) -> ListMemosResponse:
        asked.append(request)
        by_rule = MEMO.model_copy(update={"id": "m2", "method": "rule", "model": ""})
        found = () if request.source == "none" else (MEMO, by_rule)
        return ListMemosResponse(memos=found, total=7, left_out={"meaning": "no vector"})

    fourtier.routes = [call_route(LIST_MEMOS, list_memos), *no_documents()]
    assert fourtier("archive", "memos", "--user", "ann", "--query", "boats", "-n", "2") == 0
    assert "(by big)" in fourtier.said
    assert "(by rule)" in fourtier.said
    assert "2 of 7 memos of ann/default" in fourtier.said
    assert "not searched by meaning: no vector" in fourtier.said
    assert (asked[0].user, asked[0].query, asked[0].limit) == ("ann", "boats", 2)
    assert fourtier("archive", "memos", "--user", "ann", "--json") == 0
    assert json.loads(fourtier.out)[0]["content"] == MEMO.content
    assert fourtier("archive", "memos", "--user", "ann", "--source", "none") == 0
    assert "ann/default has no memos." in fourtier.said


def test_a_page_that_is_not_there_exits_with_1(fourtier: Command) -> None:
    fourtier.routes = [reading(), *no_documents()]
    assert fourtier("archive", "show", "p9", "--user", "ann") == 1
    assert "ann/default has no page or entry p9" in fourtier.err
