"""How much a scope may have in the archive, and for how long."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourtier.operations.dead_letters import list_dead_letters
from fourtier.schema.archive import GET_PAGE, GetPageRequest
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.status import StatusRequest, status_of
from tests.memory.archive.test_archive_service import (
    archived,
    pages,
    search,
    tell,
)
from tests.memory.archive.test_archive_service import turn as reported
from tests.support.flow import running_flow
from tests.support.waiting import wait_until


def services(**parameters: Any) -> dict[str, dict[str, Any]]:
    return {"embeddings": {}, "archive": parameters}


def turn(number: int, content: str, days: float, **other: Any) -> DialogueTurn:
    """Something that was said so many days ago."""
    at = datetime.now(UTC) - timedelta(days=days)
    return reported(number, content, **other).model_copy(update={"timestamp": at})


async def test_what_was_said_longest_ago_goes_whenever_it_came(tmp_path: Path) -> None:
    async with running_flow(tmp_path, services(**{"max-per-scope": 2})) as flow:
        await tell(flow, turn(1, "Newest.", 1), turn(2, "Middle.", 2), turn(3, "Oldest.", 3))
        await tell(flow, turn(4, "Bob's.", 9, user="bob"))
        await archived(flow, 2)
        await archived(flow, 1, "bob")
        await tell(flow, turn(3, "Oldest.", 3), turn(5, "Last.", 0.5, conversation_id="c2"))

        async def these() -> bool:
            found = await search(flow, "anything", legs=("meaning",), top_k=9)
            return {hit.entry.content for hit in found} == {"Newest.", "Last."}

        await wait_until(these)
        await archived(flow, 2)


async def test_a_full_archive_that_evicts_nothing_rejects_what_is_new(tmp_path: Path) -> None:
    limited = services(**{"max-per-scope": 1, "when-full": "reject"})
    async with running_flow(tmp_path, limited) as flow:
        await tell(flow, turn(1, "First.", 3))
        await archived(flow, 1)
        await tell(flow, turn(2, "Second.", 1), turn(3, "Bob's.", 1, user="bob"))
        await archived(flow, 1, "bob")
        assert await list_dead_letters(flow.bus, "archive") == []
        assert [hit.entry.content for hit in await search(flow, "anything")] == ["First."]


async def test_what_has_expired_is_neither_found_nor_read_and_then_deleted(
    tmp_path: Path,
) -> None:
    async with running_flow(tmp_path, services(), namespace="a") as flow:
        await tell(flow, turn(1, "Old.", 40), turn(2, "New.", 1))
        await archived(flow, 2)
        (page,) = (await pages(flow)).pages

    retained = services(**{"ttl-days": 30, "sweep-seconds": 3_600})
    async with running_flow(tmp_path, retained, namespace="a") as flow:
        await tell(flow, turn(3, "Late.", 50))
        await archived(flow, 1)
        read = await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", page_id=page.id))
        assert [entry.content for entry in read.entries] == ["New."]
        assert [hit.entry.content for hit in await search(flow, "old")] == ["New."]

    swept = services(**{"ttl-days": 30, "sweep-seconds": 0.05})
    async with running_flow(tmp_path, swept, namespace="a") as flow:

        async def deleted() -> bool:
            status = await flow.caller.call(status_of("archive"), StatusRequest())
            return {each.kind: each.number for each in status.store_counts}["entries"] == 1

        await wait_until(deleted)
