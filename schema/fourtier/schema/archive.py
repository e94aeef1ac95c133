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
from fourtier.schema.topics import Call, Topic, by_scope, command, query

#: What a page is of: the turns and runs of a conversation, or a document.
SourceKind = Literal["conversation", "document"]

#: Blocks in one part of a document, and in all of it. A part stays far below the 5 MB that the bus
#: takes in one message.
MAX_BLOCKS, MAX_DOCUMENT = 64, 100_000
#: A paragraph, or as much of a long one as a page takes.
Block = Annotated[str, Field(min_length=1, max_length=8_000)]

#: Characters of a memo, and memos that whoever makes one may be shown.
MAX_MEMO, MAX_SHOWN = 4_000, 200
#: How a memo is made: of the page's own sentences, or by a language model.
MemoMethod = Literal["rule", "llm"]

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


class ArchiveMemo(Message):
    """What a closed page is about, in a few sentences.

    `page_hash` is that of the page that it was made from. `shown` are the ids of the memos that
    whoever made it was shown: it may have words of them, and so it goes when one of them goes. The
    times are those of what the page says, but for `made_at`.
    """

    id: str
    page_id: str
    page_hash: str
    source: str = Field(description="conversation_id, or the name of a document")
    source_kind: SourceKind = "conversation"
    page_number: int = Field(description="within its source, from 1")
    content: str
    method: MemoMethod
    model: str = ""
    shown: tuple[str, ...] = ()
    started_at: Timestamp
    ended_at: Timestamp
    made_at: Timestamp


class ArchivePage(Message):
    """Consecutive entries of one source. A closed page gets no more of them.

    `page_hash` is another one whenever its entries are others, or say something else. It has no
    memo while it is open, and until somebody has made one.
    """

    id: str
    source: str
    source_kind: SourceKind = "conversation"
    number: int = Field(description="within its source, from 1")
    entries: int
    tokens: int
    closed: bool
    started_at: Timestamp
    ended_at: Timestamp
    page_hash: str = ""
    memo: ArchiveMemo | None = None


class FoundBy(Message):
    """How one leg of a search found an entry: 1 is its best."""

    rank: int = Field(le=MAX_OFFSET)
    score: float


#: By the names of legs. Another version may know more of them than this one.
Legs = Annotated[dict[Annotated[str, Field(max_length=64)], FoundBy], Field(max_length=64)]


class ArchiveHit(Message):
    """An entry that was found, with how each leg found it where that was asked for."""

    entry: ArchiveEntry
    score: float
    legs: Legs = {}


class StoreDocumentRequest(Scoped):
    """Store a part of a document: consecutive blocks of it.

    With the last part the document is complete: blocks behind `total` that an earlier version had
    are deleted. The same part again changes nothing.
    """

    document: Name = Field(description="its name, one of a kind in the scope")
    first: int = Field(
        ge=0, le=MAX_DOCUMENT - 1, description="the number of the first block, from 0"
    )
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

    `stored` are new or have changed: `replaced` of them stand in the place of others. `unchanged`
    were there. `not_stored` were forgotten, have expired, are of a user who has opted out, or of a
    version that is not the last one any more. `deleted` are those of an earlier version that the
    document has not got any more.
    """

    stored: int
    unchanged: int
    not_stored: int = 0
    deleted: int = 0
    replaced: int = 0
    redacted: dict[str, int] = Field(
        default={}, description="kind of personal data to how often it was taken out"
    )


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
    """`page` is None when the scope has no such page. Its entries are in their order.

    Of a user who has opted out nothing is to be made of it.
    """

    page: ArchivePage | None
    entries: tuple[ArchiveEntry, ...] = ()
    opted_out: bool = False


class ListPagesRequest(Scoped):
    """Page through a scope's pages, those that were last added to first.

    With a `source` only those of it.
    """

    source: OptionalName = ""
    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListPagesResponse(Answer):
    """`total` counts all in the scope, or of the source, not only these."""

    pages: tuple[ArchivePage, ...]
    total: int


class ListDocumentsRequest(Scoped):
    """Page through the names of a scope's documents, in their order."""

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListDocumentsResponse(Answer):
    """`total` counts all in the scope, not only these."""

    documents: tuple[str, ...]
    total: int


class ListMemosRequest(Scoped):
    """Read memos: the most recent ones, or with a `query` those most similar to it.

    Recent is what was said last. `source` narrows both, and with it `before_page` leaves those of
    that page and of later ones out. Without an `embedding` the service embeds the query itself.
    `offset` has no meaning where a query is given.
    """

    query: LongText = ""
    embedding: Vector | None = None
    source: OptionalName = ""
    before_page: int = Field(default=0, ge=0, le=MAX_OFFSET, description="0: all of them")
    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListMemosResponse(Answer):
    """`total` counts all in the scope, or of the source, not only these.

    `left_out` has what could not be searched by, with the reason.
    """

    memos: tuple[ArchiveMemo, ...]
    total: int
    left_out: dict[str, str] = {}
    opted_out: bool = False


class SetMemoRequest(Scoped):
    """Store what was made of a closed page, as it was when it had that hash."""

    page_id: Name
    page_hash: Name
    content: str = Field(min_length=1, max_length=MAX_MEMO)
    method: MemoMethod
    model: OptionalName = ""
    shown: tuple[Name, ...] = Field(
        default=(), max_length=MAX_SHOWN, description="ids of the memos that its maker was shown"
    )


#: Why a memo is not stored: there is no such closed page; the page, or one of the memos shown, is
#: another by now or gone; the page has a memo already; its user has opted out.
NotSet = Literal["no-page", "page-changed", "shown-changed", "has-memo", "opted-out"]


class SetMemoResponse(Answer):
    """`stored` is True also where the same message was handled before; else `reason` says why."""

    stored: bool
    reason: NotSet | None = None


#: Why a page is told of, see `PageClosed`.
Reason = Literal["closed", "changed", "memo-forgotten"]


class PageClosed(Scoped):
    """A page is complete, and has no memo.

    `reason` says since when: it was closed, or what it says was changed or forgotten, or only its
    memo was, because of what was shown to whoever made it (`changed`) or of words that the page
    itself does not have (`memo-forgotten`). The same page may be told of again. Neither its words
    nor the name of its source are here: an event stays on its topic when they are forgotten.
    """

    page_id: Name
    reason: Reason = "closed"


class ReindexArchiveRequest(Message):
    """Make the next part of the index from the graph, for all users: an operator's call.

    The caller keeps the cursor: "" begins, and each answer gives the one to go on with.
    """

    cursor: str = Field(default="", max_length=2_000)


class ReindexArchiveResponse(Answer):
    """How many entries this part has indexed, of how many; memos come behind them, uncounted.

    An empty `cursor` says it is done.
    """

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
LIST_DOCUMENTS = query("archive.documents", ListDocumentsRequest, ListDocumentsResponse)
LIST_MEMOS = query("archive.memos", ListMemosRequest, ListMemosResponse)
SET_MEMO = command("archive.set-memo", SetMemoRequest, SetMemoResponse, key=by_scope)
PAGE_CLOSED = Topic("page.closed", PageClosed, key=by_scope)
#: Not persistent: the caller sees how far it came, and asks again.
REINDEX_ARCHIVE = Call(
    Topic("archive.reindex", ReindexArchiveRequest, persistent=False),
    ReindexArchiveResponse,
    deadline=60.0,
)
ERASE_ARCHIVE = erasure("archive")
OPT_OUT_ARCHIVE = opting_out("archive")
