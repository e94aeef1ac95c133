"""Documents in the archive: stored in parts, changed, and sent twice or in another order."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.errors import CallFailedError
from fourtier.schema.archive import SEARCH_ARCHIVE, SearchArchiveRequest
from tests.memory.archive.documents import (
    WRITTEN,
    numbers,
    pages_of,
    part,
    read,
    store,
    texts_by_page,
)
from tests.memory.archive.test_archive_service import search, tell, turn
from tests.support.flow import RunningFlow, running_flow

SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}
#: About 150 tokens: three of them are on a page.
LONG = " ".join(f"word{number}" for number in range(75))


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


def long(*numbers: int) -> list[str]:
    return [f"Paragraph {number}. {LONG}" for number in numbers]


async def found(flow: RunningFlow, query: str, **other: Any) -> list[str]:
    return [hit.entry.content for hit in await search(flow, query, **other)]


async def test_a_block_is_found_word_for_word_as_soon_as_it_is_stored(flow: RunningFlow) -> None:
    blocks = ["# Cellos\n\nThe violoncello  is kept dry.", "Bows hang.", "Tea is at four."]
    assert await numbers(flow, part(blocks)) == (3, 0, 0, 0)

    (hit, *_) = await search(flow, "Where is the violoncello kept?")

    assert hit.entry.content == blocks[0]
    assert (hit.entry.source, hit.entry.source_kind) == ("handbook", "document")
    assert (hit.entry.invocation_id, hit.entry.part) == ("block-0", "block")
    assert (hit.entry.speaker, hit.entry.timestamp) == ("handbook", WRITTEN)
    assert set(await found(flow, "tea", legs=("window",))) == set(blocks)


async def test_pages_close_at_512_tokens_and_with_the_document(flow: RunningFlow) -> None:
    blocks = [*long(*range(5)), "x " * 900, "The end."]
    await store(flow, part(blocks[:2], total=7), part(blocks[2:4], first=2, total=7))
    assert [page.closed for page in await pages_of(flow)] == [True, False]

    await store(flow, part(blocks[4:], first=4, total=7))

    assert await texts_by_page(flow) == [blocks[:3], blocks[3:5], blocks[5:6], blocks[6:]]
    listed = await pages_of(flow)
    assert [page.closed for page in listed] == [True] * 4
    assert [page.number for page in listed] == [1, 2, 3, 4]
    assert all(page.tokens <= 512 for page in listed if page.entries > 1)


async def test_the_same_document_again_changes_nothing(flow: RunningFlow) -> None:
    parts = [part(long(0, 1), total=4), part(long(2, 3), first=2)]
    await store(flow, *parts)
    before, texts = await pages_of(flow), await texts_by_page(flow)

    assert await numbers(flow, *parts) == (0, 4, 0, 0)
    again = [part(long(0, 1), total=4, version=2), part(long(2, 3), first=2, version=2)]
    assert await numbers(flow, *again) == (0, 4, 0, 0)

    assert (await pages_of(flow), await texts_by_page(flow)) == (before, texts)


async def test_a_changed_block_keeps_its_place_and_its_old_words_are_gone(
    flow: RunningFlow,
) -> None:
    await store(flow, part(["First.", "The zeppelin is in hangar 7.", "Third."]))
    new = ["First.", "The balloon is in hangar 8.", "Third."]
    later = WRITTEN + timedelta(days=3)

    assert await numbers(flow, part(new, version=2, timestamp=later)) == (1, 2, 0, 0)

    assert await read(flow) == new
    assert await found(flow, "zeppelin", legs=("words", "window")) == []
    (hit, *_) = await search(flow, "balloon")
    assert hit.entry.timestamp == later


async def test_a_shorter_document_loses_its_end(flow: RunningFlow) -> None:
    await store(flow, part([*long(*range(8)), "The zeppelin is the last word."]))
    assert await numbers(flow, part(long(0, 1, 2, 3), version=2)) == (0, 4, 0, 5)

    assert await read(flow) == long(0, 1, 2, 3)
    assert await found(flow, "zeppelin", legs=("words", "window")) == []
    assert await numbers(flow, part(long(0, 1, 2, 3), version=2)) == (0, 4, 0, 0)


async def test_a_longer_document_gets_more_pages_also_after_it_was_shorter(
    flow: RunningFlow,
) -> None:
    await store(flow, part(long(*range(8))), part(long(0, 1), version=2))
    longer = [*long(0, 1), "Something new.", *long(4, 5, 6)]

    assert await numbers(flow, part(longer, version=3)) == (4, 2, 0, 0)

    assert await read(flow) == longer
    assert [page.number for page in await pages_of(flow)] == [1, 2]
    assert long(1)[0] in await found(flow, "something new", legs=("window",))


async def test_a_paragraph_in_the_middle_moves_the_others(flow: RunningFlow) -> None:
    await store(flow, part(["One.", "Two.", "Three."]))
    assert await numbers(flow, part(["One.", "New.", "Two.", "Three."], version=2)) == (3, 1, 0, 0)
    assert await read(flow) == ["One.", "New.", "Two.", "Three."]
    assert await found(flow, "three", legs=("words",)) == ["Three."]


async def test_parts_may_come_in_any_order_and_twice(flow: RunningFlow) -> None:
    texts = long(*range(10))
    parts = [part(texts[start : start + 2], first=start, total=10) for start in range(0, 10, 2)]
    order = [parts[number] for number in (4, 1, 1, 0, 4, 3, 2, 0)]

    assert await numbers(flow, *order) == (10, 6, 0, 0)

    assert await read(flow) == texts
    assert [page.number for page in await pages_of(flow)] == [1, 2, 3, 4]
    assert all(page.tokens <= 512 and page.closed for page in await pages_of(flow))
    assert len(await found(flow, "word7", legs=("words",), top_k=100)) == 10
    longer = part([*texts, "And more."], version=2)
    assert await numbers(flow, longer) == (1, 10, 0, 0)
    assert await read(flow) == [*texts, "And more."]


async def test_what_an_earlier_version_said_does_not_come_back(flow: RunningFlow) -> None:
    first = [part(["A.", "B."], total=4), part(["C.", "D."], first=2)]
    second = part(["A.", "Other."], version=2)
    third = part(["A.", "B.", "E."], version=3)
    await store(flow, *first, second)
    assert await numbers(flow, *first) == (0, 1, 3, 0)
    assert await read(flow) == ["A.", "Other."]

    await store(flow, third)
    assert await numbers(flow, second, *first) == (0, 3, 3, 0)
    assert await read(flow) == ["A.", "B.", "E."]


async def test_a_version_with_the_same_words_is_a_later_version_too(flow: RunningFlow) -> None:
    old, between = part(["A.", "B."]), part(["A.", "Other."], version=2)
    await store(flow, old, part(["A.", "B."], version=3))
    await store(flow, between)
    assert await read(flow) == ["A.", "B."]
    await store(flow, part(["A."], total=2, version=5), part(["Other."], total=2, version=4))
    assert await read(flow) == ["A.", "B."]


async def test_without_a_version_the_time_of_the_request_counts(flow: RunningFlow) -> None:
    sent = [part(blocks).model_copy(update={"version": None}) for blocks in (["A.", "B."], ["A."])]
    await store(flow, *sent)
    assert await read(flow) == ["A."]


async def test_a_part_beyond_the_end_is_rejected(flow: RunningFlow) -> None:
    with pytest.raises(CallFailedError, match="blocks 2 to 3 are not in a document of 3"):
        await store(flow, part(["A.", "B."], first=2, total=3))
    assert await pages_of(flow) == []


async def test_documents_of_others_and_conversations_of_that_name_are_other_sources(
    flow: RunningFlow,
) -> None:
    await store(flow, part(["Mine."]), part(["Theirs.", "Also."], user="bob"))
    said = turn(1, "Said.", conversation_id="handbook")
    await tell(flow, said.model_copy(update={"turn_id": "block-0"}))
    assert await numbers(flow, part(["Mine, changed."], version=2)) == (1, 0, 0, 0)
    assert await read(flow) == ["Mine, changed."]
    request = SearchArchiveRequest(user="bob", query="anything", legs=("meaning",))
    theirs = (await flow.caller.call(SEARCH_ARCHIVE, request)).hits
    assert {hit.entry.content for hit in theirs} == {"Theirs.", "Also."}


async def test_secrets_are_taken_out_and_the_name_stays(flow: RunningFlow) -> None:
    name = "4111 1111 1111 1111.txt"
    await store(flow, part(["My card is 4111 1111 1111 1111, use it."], document=name))
    (text,) = await read(flow, name)
    assert "4111" not in text
    assert "use it" in text


async def test_a_full_archive_that_evicts_nothing_rejects_a_document(tmp_path: Path) -> None:
    limited: dict[str, dict[str, Any]] = {
        "embeddings": {},
        "archive": {"max-per-scope": 2, "when-full": "reject"},
    }
    async with running_flow(tmp_path, limited) as flow:
        await store(flow, part(["A.", "B."]))
        with pytest.raises(CallFailedError, match="full"):
            await store(flow, part(["A.", "B.", "C."], version=2))
        assert await read(flow) == ["A.", "B."]
        assert await numbers(flow, part(["A.", "Z."], version=3)) == (1, 1, 0, 0)
