"""The client hands in documents: in parts, with how far it is, and what fits into a message."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, InvalidRequestError, client_on
from fourtier.client.archive import ImportedDocument
from fourtier.schema.archive import MAX_BLOCKS, STORE_DOCUMENT, StoreDocumentRequest
from fourtier.schema.message import Scope
from tests.memory.archive.documents import read, texts_by_page
from tests.support.flow import RunningFlow, running_flow

ANN = Scope("ann", "default")
SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


@pytest.fixture
async def client(flow: RunningFlow) -> AsyncGenerator[Client]:
    async with client_on(flow.bus) as client:
        yield client


@pytest.mark.cluster
async def test_a_text_comes_in_paragraphs_and_one_that_changes_is_brought_up_to_date(
    flow: RunningFlow, client: Client
) -> None:
    paragraphs = [f"Paragraph {number} of the handbook." for number in range(150)]
    seen: list[int] = []

    def progress(now: ImportedDocument) -> None:
        seen.append(now.done)

    text = "\n\n".join(paragraphs)
    done = await client.archive.import_document(ANN, "handbook", text, progress=progress)
    assert (done.total, done.stored, seen) == (150, 150, [64, 128, 150])
    assert await read(flow) == paragraphs

    again = await client.archive.import_document(ANN, "handbook", text)
    assert (again.stored, again.unchanged, again.deleted) == (0, 150, 0)

    shorter = [*paragraphs[:70], "Another text."]
    changed = await client.archive.import_document(ANN, "handbook", shorter)
    assert (changed.stored, changed.unchanged, changed.deleted) == (1, 70, 79)
    assert await read(flow) == shorter
    assert sum(len(page) for page in await texts_by_page(flow)) == 71


async def test_when_it_is_from_can_be_said(client: Client) -> None:
    written = datetime(2020, 5, 1, tzinfo=UTC)
    before = datetime.now(UTC)
    await client.archive.import_document(ANN, "old", "A violoncello.", timestamp=written)
    await client.archive.import_document(ANN, "new", "A zeppelin.")
    (hit, *_) = (await client.archive.search(ANN, "violoncello", source="old")).hits
    assert hit.entry.timestamp == written
    (hit, *_) = (await client.archive.search(ANN, "zeppelin", source="new")).hits
    assert before <= hit.entry.timestamp <= datetime.now(UTC)


@pytest.mark.parametrize(
    "text", ["", " \n\n ", [], ["A."] * 64 + [""], ["A."] * 64 + ["x" * 8_001], ["A."] * 100_001]
)
async def test_what_no_message_carries_is_rejected(client: Client, text: str | list[str]) -> None:
    with pytest.raises(InvalidRequestError):
        await client.archive.import_document(ANN, "handbook", text)
    assert (await client.archive.list(ANN)).total == 0


def test_the_largest_part_fits_into_a_message() -> None:
    part = StoreDocumentRequest(
        user="u" * 512,
        document="d" * 512,
        first=0,
        blocks=("\U0001f600" * 8_000,) * MAX_BLOCKS,
        total=MAX_BLOCKS,
    )
    assert len(STORE_DOCUMENT.topic.payload.model_dump_json(part).encode()) < 3_000_000
