"""Documents for the tests of the archive, and how they are read again."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fourtier.schema.archive import (
    GET_PAGE,
    LIST_PAGES,
    STORE_DOCUMENT,
    ArchivePage,
    GetPageRequest,
    ListPagesRequest,
    StoreDocumentRequest,
    StoreDocumentResponse,
)
from tests.support.flow import RunningFlow

WRITTEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def part(
    blocks: list[str], *, first: int = 0, total: int | None = None, version: int = 1, **other: Any
) -> StoreDocumentRequest:
    """A part of the document `handbook`; later versions have higher numbers."""
    fields: dict[str, Any] = {
        "user": "ann",
        "document": "handbook",
        "timestamp": WRITTEN,
        "version": WRITTEN + timedelta(days=version),
    }
    return StoreDocumentRequest(
        blocks=tuple(blocks),
        first=first,
        total=first + len(blocks) if total is None else total,
        **fields | other,
    )


async def store(flow: RunningFlow, *parts: StoreDocumentRequest) -> list[StoreDocumentResponse]:
    return [await flow.caller.call(STORE_DOCUMENT, each) for each in parts]


async def numbers(flow: RunningFlow, *parts: StoreDocumentRequest) -> tuple[int, int, int, int]:
    """How many blocks are stored, unchanged, not stored and deleted with these."""
    done = await store(flow, *parts)
    return (
        sum(each.stored for each in done),
        sum(each.unchanged for each in done),
        sum(each.not_stored for each in done),
        sum(each.deleted for each in done),
    )


async def pages_of(flow: RunningFlow, name: str = "handbook") -> list[ArchivePage]:
    request = ListPagesRequest(user="ann", limit=1_000)
    listed = (await flow.caller.call(LIST_PAGES, request)).pages
    found = [each for each in listed if (each.source, each.source_kind) == (name, "document")]
    return sorted(found, key=lambda page: page.number)


async def read(flow: RunningFlow, name: str = "handbook") -> list[str]:
    """A document as its pages have it."""
    return [text for page in await texts_by_page(flow, name) for text in page]


async def texts_by_page(flow: RunningFlow, name: str = "handbook") -> list[list[str]]:
    found = [
        await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", page_id=page.id))
        for page in await pages_of(flow, name)
    ]
    return [[entry.content for entry in each.entries] for each in found]
