"""The archive of a scope: what was said and read, word for word."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self

from fourtier.client.documents import blocks_of
from fourtier.client.memory import ScopedCalls
from fourtier.client.requests import InvalidRequestError, new_request
from fourtier.schema.archive import (
    GET_PAGE,
    LIST_DOCUMENTS,
    LIST_MEMOS,
    LIST_PAGES,
    MAX_BLOCKS,
    REINDEX_ARCHIVE,
    SEARCH_ARCHIVE,
    STORE_DOCUMENT,
    GetPageResponse,
    ListDocumentsResponse,
    ListMemosResponse,
    ListPagesResponse,
    ReindexArchiveRequest,
    ReindexArchiveResponse,
    SearchArchiveResponse,
    StoreDocumentRequest,
    StoreDocumentResponse,
)
from fourtier.schema.message import MAX_ITEMS, Scope


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """How far the import of a document is, in blocks; see `StoreDocumentResponse`.

    Attributes:
        total: blocks of the document.
        redacted: how often which kind of personal data was taken out.
    """

    total: int
    stored: int = 0
    unchanged: int = 0
    not_stored: int = 0
    deleted: int = 0
    replaced: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Blocks that were handed in."""
        return self.stored + self.unchanged + self.not_stored

    def plus(self, part: StoreDocumentResponse) -> Self:
        """The same with one more part."""
        return replace(
            self,
            stored=self.stored + part.stored,
            unchanged=self.unchanged + part.unchanged,
            not_stored=self.not_stored + part.not_stored,
            deleted=self.deleted + part.deleted,
            replaced=self.replaced + part.replaced,
            redacted=Counter(self.redacted) + Counter(part.redacted),
        )


class Archive(ScopedCalls):
    """What was said and read in a scope."""

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        top_k: int = 5,
        source: str = "",
        speaker: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        explain: bool = False,
    ) -> SearchArchiveResponse:
        """Find entries, best first; see `SearchArchiveRequest`."""
        return await self._call(
            SEARCH_ARCHIVE,
            scope,
            query=query,
            top_k=top_k,
            source=source,
            speaker=speaker,
            since=since,
            until=until,
            explain=explain,
        )

    async def import_document(
        self,
        scope: Scope,
        document: str,
        text: str | Sequence[str],
        *,
        timestamp: datetime | None = None,
        progress: Callable[[ImportedDocument], None] = lambda _: None,
    ) -> ImportedDocument:
        """Store a document, or bring it up to date; returns when all of it can be found.

        Blocks that are there already stay as they are, and those that the document has not got any
        more are deleted. After an error in between, import it again.

        Args:
            scope: whose archive.
            document: its name; another one with this name is the same document, changed.
            text: all of it. A string is split into paragraphs at blank lines; a sequence has the
                blocks as they are to be stored, of 8,000 characters at most.
            timestamp: when it is from, with a time zone; now if it is left out. What is older than
                a forgetting stays forgotten.
            progress: called after each part with the result so far.

        Raises:
            InvalidRequestError: there is nothing in the document, or a block is too long; nothing
                was sent.
        """
        blocks = tuple(blocks_of(text)) if isinstance(text, str) else tuple(text)
        if not blocks:
            raise InvalidRequestError("text: the document has no text")
        version = datetime.now(UTC)
        parts = [
            new_request(
                StoreDocumentRequest,
                user=scope.user,
                collection=scope.collection,
                document=document,
                first=first,
                blocks=blocks[first : first + MAX_BLOCKS],
                total=len(blocks),
                timestamp=timestamp or version,
                version=version,
            )
            for first in range(0, len(blocks), MAX_BLOCKS)
        ]
        done = ImportedDocument(len(blocks))
        for part in parts:
            done = done.plus(await self._caller.call(STORE_DOCUMENT, part))
            progress(done)
        return done

    async def page(self, scope: Scope, page_id: str) -> GetPageResponse:
        """A page with its entries; `page` is None where the scope has none of this id."""
        return await self._call(GET_PAGE, scope, page_id=page_id)

    async def page_of(self, scope: Scope, entry_id: str) -> GetPageResponse:
        """The page that an entry is on."""
        return await self._call(GET_PAGE, scope, entry_id=entry_id)

    async def list(
        self, scope: Scope, *, source: str = "", limit: int = 100, offset: int = 0
    ) -> ListPagesResponse:
        """Pages, those that were last added to first; with a `source` only those of it."""
        return await self._pages(LIST_PAGES, scope, "pages", limit, offset, source=source)

    async def documents(
        self, scope: Scope, *, limit: int = 100, offset: int = 0
    ) -> ListDocumentsResponse:
        """Names of documents, in their order, and how many there are in all."""
        return await self._pages(LIST_DOCUMENTS, scope, "documents", limit, offset)

    async def memos(
        self,
        scope: Scope,
        query: str = "",
        *,
        source: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> ListMemosResponse:
        """What closed pages are about: those of what was said last, or most similar to a query.

        With a query 1,000 at most, and `offset` has no meaning.
        """
        if query:
            most = min(limit, MAX_ITEMS)
            return await self._call(LIST_MEMOS, scope, query=query, source=source, limit=most)
        return await self._pages(LIST_MEMOS, scope, "memos", limit, offset, source=source)

    async def reindex(self, cursor: str = "") -> ReindexArchiveResponse:
        """Write a part of the index of all users anew; see `ReindexArchiveRequest`."""
        return await self._caller.call(REINDEX_ARCHIVE, ReindexArchiveRequest(cursor=cursor))
