"""As many documents and turns as an embedded graph once had no room for, in one process."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.timestamps import as_text
from fourtier.memory.archive.entries import Entry, of_part, of_run
from fourtier.memory.archive.graph_schema import SCHEMA as ARCHIVE
from fourtier.memory.archive.memos import Memo
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.store import SCHEMA as CONVERSATIONS
from fourtier.memory.conversations.store import ConversationStore
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.message import Scope
from tests.memory.archive.documents import part

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(900)]

ANN = Scope("ann", "default")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
DOCUMENTS = 10_000
TURNS = 4_500
#: The same conversation for as many turns.
_TURNS_TOGETHER = 50


async def drop_none(_scope: Scope, memos: Sequence[Memo]) -> None:
    assert not memos


async def archive_document(archive: ArchiveStore, number: int) -> Entry:
    """Archive a document of one block, as the service does."""
    name = f"document-{number}"
    text = f"Page {number} says where the violoncello number {number} is."
    (entry,) = of_part(part([text], document=name), START)
    await archive.append([entry], START, drop_none)
    await archive.complete(entry.source, 1, as_text(START))
    return entry


async def archive_turn(
    archive: ArchiveStore, conversations: ConversationStore, number: int
) -> tuple[list[Entry], InvocationRecord]:
    """Archive and record a turn of a chat, as the services do."""
    at = START + timedelta(minutes=number)
    event = InvocationEnded(
        user="ann",
        conversation_id=f"chat-{number // _TURNS_TOGETHER}",
        run_id=f"run-{number}",
        question=f"Where was I at {number}?",
        answer=f"You were in the garden number {number}.",
        started_at=at,
        ended_at=at,
    )
    entries, record = list(of_run(event, at)), InvocationRecord.from_run(event, at)
    await archive.append(entries, at, drop_none)
    assert await conversations.append([record], at) == {record.id}
    return entries, record


async def all_of(archive: ArchiveStore) -> dict[str, str]:
    found: dict[str, str] = {}
    after = ""
    while entries := await archive.everything(after, 5_000):
        found |= {entry.id: entry.text for entry in entries}
        after = entries[-1].id
    return found


async def test_an_archive_takes_more_than_its_buffer_has_room_for(tmp_path: Path) -> None:
    expected: dict[str, str] = {}
    recorded: list[InvocationRecord] = []
    async with (
        open_ladybug(tmp_path / "archive" / "graph.lbug", ARCHIVE) as archive_graph,
        open_ladybug(tmp_path / "conversations" / "graph.lbug", CONVERSATIONS) as record_graph,
    ):
        archive, conversations = ArchiveStore(archive_graph), ConversationStore(record_graph)
        for number in range(DOCUMENTS):
            entry = await archive_document(archive, number)
            expected[entry.id] = entry.text
        for number in range(TURNS):
            entries, record = await archive_turn(archive, conversations, number)
            expected |= {entry.id: entry.text for entry in entries}
            recorded.append(record)

        assert await all_of(archive) == expected
        entry = await archive_document(archive, DOCUMENTS)
        pages = await archive.on_pages(ANN, [entry.source.page_id(1)])
        assert [each.text for each in pages] == [entry.text]
        for start in range(0, TURNS, _TURNS_TOGETHER):
            together = recorded[start : start + _TURNS_TOGETHER]
            key = ConversationKey(ANN, f"chat-{start // _TURNS_TOGETHER}")
            memory, _ = await conversations.newest(key, _TURNS_TOGETHER)
            assert [each.query for each in memory.invocations] == [each.query for each in together]
