"""Messages of `archive`: what was said and read, verbatim, in pages, searchable."""

from typing import Annotated, Literal

from pydantic import Field

from fourtier.schema.erasure import erasure
from fourtier.schema.message import (
    MAX_ITEMS,
    MAX_OFFSET,
    Answer,
    LongText,
    Message,
    Name,
    OptionalName,
    Scoped,
    Timestamp,
    Vector,
)
from fourtier.schema.opt_out import opting_out
from fourtier.schema.topics import Call, Topic, command, query

#: What a page is of: the turns and runs of a conversation, or a document.
SourceKind = Literal["conversation", "document"]

#: Blocks in one part of a document, and in all of it. A part stays far below the 5 MB that the bus
#: takes in one message.
MAX_BLOCKS, MAX_DOCUMENT = 64, 100_000
#: A paragraph, or as much of a long one as a page takes.
Block = Annotated[str, Field(min_length=1, max_length=8_000)]

#: What an archive is searched by: the words of an entry, those of its neighbours too, the meaning
#: of an entry, and that of it with its neighbours.
LegName = Literal["words", "window", "meaning", "context"]


class ArchiveEntry(Message):
    """Something that was said or read, word for word.

    `part` says which part of an invocation it is: `question`, `step-1`, `answer`, or `turn` of
    imported dialogue; `block` of a document, whose blocks are `block-0`, `block-1` and so on.
    `speaker` is who said it; of a step the tool, of a block the document.
    """

    id: str
    page_id: str
    source: str = Field(description="conversation_id, or the name of a document")
    source_kind: SourceKind = "conversation"
    invocation_id: str = ""
    part: str = ""
    speaker: str = ""
    content: str
    timestamp: Timestamp


class ArchivePage(Message):
    """Consecutive entries of one source. A closed page gets no more of them."""

    id: str
    source: str
    source_kind: SourceKind = "conversation"
    number: int = Field(description="within its source, from 1")
    entries: int
    tokens: int
    closed: bool
    started_at: Timestamp
    ended_at: Timestamp


class FoundBy(Message):
    """How one leg of a search found an entry: 1 is its best."""

    rank: int
    score: float


class ArchiveHit(Message):
    """An entry that was found, with how each leg found it where that was asked for."""

    entry: ArchiveEntry
    score: float
    legs: dict[str, FoundBy] = {}


class StoreDocumentRequest(Scoped):
    """Store a part of a document: consecutive blocks of it.

    With the last part the document is complete: blocks behind `total` that an earlier version had
    are deleted. The same part again changes nothing.
    """

    document: Name = Field(description="its name, one of a kind in the scope")
    first: int = Field(ge=0, lt=MAX_DOCUMENT, description="the number of the first block, from 0")
    blocks: tuple[Block, ...] = Field(min_length=1, max_length=MAX_BLOCKS)
    total: int = Field(ge=1, le=MAX_DOCUMENT, description="blocks of the whole document")
    timestamp: Timestamp | None = Field(
        default=None, description="when the document is from; the time of the request if left out"
    )
    version: Timestamp | None = Field(
        default=None,
        description="the same for all parts of one version, of which the later counts; the time "
        "of the request if left out, which is right for a document of one part",
    )


class StoreDocumentResponse(Answer):
    """What became of the blocks of a part; sent when they can be found.

    `stored` are new or have changed, `unchanged` were there. `not_stored` were forgotten, have
    expired, are of a user who has opted out, or of a version that is not the last one any more.
    `deleted` are those of an earlier version that the document has not got any more.
    """

    stored: int
    unchanged: int
    not_stored: int = 0
    deleted: int = 0


class SearchArchiveRequest(Scoped):
    """Search entries. Without an `embedding` the service embeds the query itself.

    `source` and `speaker` narrow the search, as do `since` and `until`: what was said at that time,
    the first included, the second not.
    """

    query: LongText = Field(min_length=1)
    embedding: Vector | None = None
    legs: tuple[LegName, ...] = Field(default=(), max_length=10, description="all of them if none")
    top_k: int = Field(default=5, ge=1, le=MAX_ITEMS)
    source: OptionalName = ""
    speaker: OptionalName = ""
    since: Timestamp | None = None
    until: Timestamp | None = None
    explain: bool = False


class SearchArchiveResponse(Answer):
    """Best first. `left_out` has the legs that could not search, with the reason."""

    hits: tuple[ArchiveHit, ...]
    left_out: dict[str, str] = {}
    opted_out: bool = False


class GetPageRequest(Scoped):
    """Read a page by its id, or the one that an entry is on."""

    page_id: OptionalName = ""
    entry_id: OptionalName = ""


class GetPageResponse(Answer):
    """`page` is None when the scope has no such page. Its entries are in their order."""

    page: ArchivePage | None
    entries: tuple[ArchiveEntry, ...] = ()


class ListPagesRequest(Scoped):
    """Page through a scope's pages, those that were last added to first."""

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListPagesResponse(Answer):
    """`total` counts all in the scope, not only these."""

    pages: tuple[ArchivePage, ...]
    total: int


class ReindexArchiveRequest(Message):
    """Make the next part of the index from the graph, for all users: an operator's call.

    The caller keeps the cursor: "" begins, and each answer gives the one to go on with.
    """

    cursor: str = Field(default="", max_length=2_000)


class ReindexArchiveResponse(Answer):
    """How many entries this part has indexed, of how many. An empty `cursor` says it is done."""

    cursor: str
    indexed: int
    entries: int


def by_document(message: StoreDocumentRequest) -> str:
    """Key that keeps the parts of one document in order."""
    return f"{message.scope.key}/{message.document}"


STORE_DOCUMENT = command(
    "archive.store", StoreDocumentRequest, StoreDocumentResponse, key=by_document
)
SEARCH_ARCHIVE = query("archive.search", SearchArchiveRequest, SearchArchiveResponse)
GET_PAGE = query("archive.get", GetPageRequest, GetPageResponse)
LIST_PAGES = query("archive.list", ListPagesRequest, ListPagesResponse)
#: Not persistent: the caller sees how far it came, and asks again.
REINDEX_ARCHIVE = Call(
    Topic("archive.reindex", ReindexArchiveRequest, persistent=False),
    ReindexArchiveResponse,
    deadline=60.0,
)
ERASE_ARCHIVE = erasure("archive")
OPT_OUT_ARCHIVE = opting_out("archive")
