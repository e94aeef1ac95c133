"""`archive`: what was said and read, verbatim, in pages, searchable the moment it is written."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Self

from fourtier.engines.counting import count_nodes
from fourtier.memory.archive.announcing import Announcing
from fourtier.memory.archive.documents import Documents
from fourtier.memory.archive.entries import Entry, Source, of_run, of_turn
from fourtier.memory.archive.forgetting import ArchiveWriter
from fourtier.memory.archive.graph_schema import OPT_OUTS, SCHEMA, TOMBSTONES
from fourtier.memory.archive.index import COLLECTION, ArchiveIndex
from fourtier.memory.archive.memo_index import MEMOS, MemoIndex
from fourtier.memory.archive.messages import erased_message, hit_message, page_message
from fourtier.memory.archive.parameters import ArchiveParameters
from fourtier.memory.archive.reindexing import Reindexing
from fourtier.memory.archive.removal import ArchiveRemoval
from fourtier.memory.archive.retention import ArchiveMemories, RetainedArchive
from fourtier.memory.archive.search import ArchiveSearch
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.archive.valid_memos import ValidMemos
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.opting_out import change_opt_out
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.selection import answer_erase
from fourtier.memory.tombstones.store import Tombstones
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Service,
    ServiceContext,
    Stores,
    answer,
    current_envelope,
    current_envelopes,
    on,
    on_batch,
    periodic,
)
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.archive import (
    ERASE_ARCHIVE,
    GET_PAGE,
    LIST_DOCUMENTS,
    LIST_MEMOS,
    LIST_PAGES,
    OPT_OUT_ARCHIVE,
    REINDEX_ARCHIVE,
    SEARCH_ARCHIVE,
    SET_MEMO,
    STORE_DOCUMENT,
    GetPageRequest,
    GetPageResponse,
    ListDocumentsRequest,
    ListDocumentsResponse,
    ListMemosRequest,
    ListMemosResponse,
    ListPagesRequest,
    ListPagesResponse,
    ReindexArchiveRequest,
    ReindexArchiveResponse,
    SearchArchiveRequest,
    SearchArchiveResponse,
    SetMemoRequest,
    SetMemoResponse,
    StoreDocumentRequest,
    StoreDocumentResponse,
)
from fourtier.schema.conversations import (
    CONVERSATION_ENDED,
    DIALOGUE_RECORDED,
    ConversationEnded,
    DialogueTurn,
)
from fourtier.schema.erasure import EraseRequest, EraseResponse
from fourtier.schema.opt_out import OptOutRequest, OptOutResponse
from fourtier.schema.status import StoreCount

#: Imports come in floods; a bigger batch costs the same one commit.
_MAX_TURNS = 256


class ArchiveService(Service):
    """Owns the archives of all scopes."""

    name = "archive"
    parameters = ArchiveParameters
    stores = Stores(SCHEMA, [COLLECTION, MEMOS])

    def __init__(
        self,
        store: ArchiveStore,
        search: ArchiveSearch,
        writer: ArchiveWriter,
        retained: RetainedArchive,
        memos: ValidMemos,
        *,
        reindexing: Reindexing,
        announcing: Announcing,
        graph: GraphStore,
        privacy: Privacy,
        opt_outs: OptOuts,
    ) -> None:
        self._store = store
        self._search = search
        self._writer = writer
        self._retained = retained
        self._memos = memos
        self._reindexing = reindexing
        self._announcing = announcing
        self._documents = Documents(store, writer, retained, announcing)
        self._graph = graph
        self._privacy = privacy
        self._opt_outs = opt_outs

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ArchiveParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and the vectors and begin to sweep."""
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(context.open_graph(SCHEMA))
            vectors = await stack.enter_async_context(context.open_vectors(COLLECTION))
            memo_vectors = await stack.enter_async_context(context.open_vectors(MEMOS))
            store, embed = ArchiveStore(graph), embed_by(context.caller)
            index = ArchiveIndex(store, vectors, embed)
            await index.completeness.check()
            memo_index = MemoIndex(store.memos, memo_vectors, embed, parameters.embedding_seconds)
            await memo_index.completeness.check()
            removal = ArchiveRemoval(graph, store, memo_index.delete)
            announcing = Announcing(graph, context.caller)
            opt_outs = OptOuts(graph, OPT_OUTS, context.privacy.policy.opted_out_users)
            tombstones = Tombstones(graph, TOMBSTONES, opt_outs)
            writer = ArchiveWriter(store, index, removal, tombstones, announcing)
            memories = ArchiveMemories(graph, store, writer)
            evicts = parameters.when_full != "reject"
            retention = Retention("entry", memories, parameters, evicts=evicts)
            retained = RetainedArchive(store, writer, memories, retention)
            for name, seconds, sweep in (
                ("The sweep of the archive", parameters.sweep_seconds, retention.sweep),
                ("Telling of closed pages", parameters.announcement_seconds, announcing.sweep),
            ):
                await stack.enter_async_context(periodic(name, seconds, sweep))
            yield cls(
                store,
                ArchiveSearch(
                    store, vectors, embed, parameters.embedding_seconds, index.completeness
                ),
                writer,
                retained,
                ValidMemos(store, memo_index, writer, retained, opt_outs),
                reindexing=Reindexing(store, index, memo_index),
                announcing=announcing,
                graph=graph,
                privacy=context.privacy,
                opt_outs=opt_outs,
            )

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many pages, entries and memos there are in all."""
        kinds = {"ArchivePage": "pages", "ArchiveEntry": "entries", "ArchiveMemo": "memos"}
        return await count_nodes(self._graph, kinds)

    @on_batch(INVOCATION_ENDED)
    async def archive_runs(self, events: Sequence[InvocationEnded]) -> None:
        """Archive what runs were asked, what their tools found, and what they answered."""
        entries: list[Entry] = []
        for event, received in zip(events, current_envelopes(), strict=True):
            entries += of_run((await self._privacy.clean(event)).message, received.sent_at)
        await self._retained.append(entries, datetime.now(UTC))

    @on_batch(DIALOGUE_RECORDED, max_batch_size=_MAX_TURNS)
    async def archive_turns(self, turns: Sequence[DialogueTurn]) -> None:
        """Archive imported dialogue."""
        entries = [
            of_turn((await self._privacy.clean(turn)).message, received.sent_at)
            for turn, received in zip(turns, current_envelopes(), strict=True)
        ]
        await self._retained.append(entries, datetime.now(UTC))

    @answer(STORE_DOCUMENT)
    async def store(self, part: StoreDocumentRequest) -> StoreDocumentResponse:
        """Archive a part of a document; of who has opted out nothing changes."""
        if await self._opt_outs.is_out(part.user):
            return StoreDocumentResponse(stored=0, unchanged=0, not_stored=len(part.blocks))
        cleaned = await self._privacy.clean(part)
        stored = await self._documents.add(cleaned.message, current_envelope().sent_at)
        return stored.model_copy(update={"redacted": {**cleaned.counts}})

    @on(CONVERSATION_ENDED)
    async def close_page(self, event: ConversationEnded) -> None:
        """Close the page of a conversation that has ended."""
        source = Source(event.scope, "conversation", event.conversation_id)
        await self._announcing.announce(await self._store.close_page(source))

    @answer(SEARCH_ARCHIVE)
    async def search(self, request: SearchArchiveRequest) -> SearchArchiveResponse:
        """Find entries."""
        if await self._opt_outs.is_out(request.user):
            return SearchArchiveResponse(hits=(), opted_out=True)
        hits, left_out = await self._search.search(request, self._retained.expired_until)
        return SearchArchiveResponse(hits=tuple(map(hit_message, hits)), left_out=left_out)

    @answer(GET_PAGE)
    async def get(self, request: GetPageRequest) -> GetPageResponse:
        """Read a page."""
        page_id = request.page_id
        if not page_id and request.entry_id:
            found = await self._store.by_ids({request.entry_id: request.scope})
            page_id = found[request.entry_id].page_id if found else ""
        rows = await self._store.pages(request.scope, [page_id] if page_id else [])
        if not rows:
            return GetPageResponse(page=None)
        entries = await self._retained.living(request.scope, [page_id])
        if not entries:
            return GetPageResponse(page=None)
        memos = await self._memos.of_pages(request.scope, [page_id])
        return GetPageResponse(
            page=page_message(rows[0], entries, memos.get(page_id)),
            entries=tuple(each.to_message() for each in entries),
            opted_out=await self._opt_outs.is_out(request.user),
        )

    @answer(LIST_PAGES)
    async def list(self, request: ListPagesRequest) -> ListPagesResponse:
        """Read a part of a scope's list of pages."""
        rows, total = await self._store.list_pages(
            request.scope, request.source, request.limit, request.offset
        )
        ids = [str(row["id"]) for row in rows]
        on_page: dict[str, list[Entry]] = {name: [] for name in ids}
        for entry in await self._retained.living(request.scope, ids):
            on_page[entry.page_id].append(entry)
        memos = await self._memos.of_pages(request.scope, ids)
        return ListPagesResponse(
            pages=tuple(
                page_message(row, on_page[str(row["id"])], memos.get(str(row["id"])))
                for row in rows
                if on_page[str(row["id"])]
            ),
            total=total,
        )

    @answer(LIST_DOCUMENTS)
    async def list_documents(self, request: ListDocumentsRequest) -> ListDocumentsResponse:
        """Read the names of a scope's documents."""
        names, total = await self._store.documents(request.scope, request.limit, request.offset)
        return ListDocumentsResponse(documents=tuple(names), total=total)

    @answer(LIST_MEMOS)
    async def list_memos(self, request: ListMemosRequest) -> ListMemosResponse:
        """Read memos."""
        return await self._memos.read(request)

    @answer(SET_MEMO)
    async def set_memo(self, request: SetMemoRequest) -> SetMemoResponse:
        """Store a memo, without the personal data that may not be written."""
        # The ids and the hash stay as they are: their digits are not personal data.
        text = request.model_copy(update={"page_hash": "", "shown": ()})
        content = (await self._privacy.clean(text)).message.content
        cleaned = request.model_copy(update={"content": content})
        return await self._memos.store(cleaned, current_envelope().sent_at)

    @answer(REINDEX_ARCHIVE, max_concurrency=1)
    async def reindex(self, request: ReindexArchiveRequest) -> ReindexArchiveResponse:
        """Make a part of the index from the graph, with the embedding model of now."""
        return await self._reindexing.part(request.cursor)

    @answer(ERASE_ARCHIVE)
    async def erase(self, request: EraseRequest) -> EraseResponse:
        """Forget the entries that are selected."""
        return await answer_erase(request, current_envelope().sent_at, self._writer, erased_message)

    @answer(OPT_OUT_ARCHIVE)
    async def opt_out(self, request: OptOutRequest) -> OptOutResponse:
        """Archive nothing of a user any more, or again."""
        return await change_opt_out(
            self._opt_outs,
            request,
            current_envelope().sent_at,
            scopes=lambda: self._writer.scopes(request.user),
            memories=self._writer,
        )
