"""Storing memos, and reading them, of what is there and may be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.timestamps import as_text
from fourtier.memory.archive.entries import Entry, Source
from fourtier.memory.archive.forgetting import ArchiveWriter
from fourtier.memory.archive.memo_index import MemoIndex
from fourtier.memory.archive.memo_store import Stale
from fourtier.memory.archive.memos import Memo, memo_id, page_hash
from fourtier.memory.archive.paging import SourceState
from fourtier.memory.archive.retention import RetainedArchive
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.schema.archive import (
    ListMemosRequest,
    ListMemosResponse,
    NotSet,
    SetMemoRequest,
    SetMemoResponse,
)
from fourtier.schema.message import Scope


@dataclass(frozen=True, slots=True)
class _Read:
    """What a memo is to rest on, as it is in the graph.

    Attributes:
        page: the number of the page.
        entries: those of it that have not expired.
        shown: the memos that its maker was shown, those of them that are there.
        states: of the sources of all that; they are read first, so that what changes behind them is
            a conflict.
    """

    source: Source
    page: int
    entries: Sequence[Entry]
    shown: Sequence[Memo]
    states: Sequence[SourceState]

    @property
    def oldest(self) -> str:
        """When the first of it was said."""
        times = [each.oldest for each in self.shown], [each.said_at for each in self.entries]
        return min(time for each in times for time in each)

    def memo(self, request: SetMemoRequest, made_at: str) -> Memo:
        """What was made of it."""
        times = sorted(entry.said_at for entry in self.entries)
        return Memo(
            id=memo_id(request.page_id, request.page_hash, made_at),
            source=self.source,
            page=self.page,
            page_hash=request.page_hash,
            text=request.content,
            method=request.method,
            model=request.model,
            made_at=made_at,
            started_at=times[0],
            ended_at=times[-1],
            oldest=self.oldest,
            shown=tuple(each.id for each in self.shown),
        )


class ValidMemos:
    """Stores memos as long as what they were made from is as it was, and reads them."""

    def __init__(
        self,
        store: ArchiveStore,
        index: MemoIndex,
        writer: ArchiveWriter,
        retained: RetainedArchive,
        opt_outs: OptOuts,
    ) -> None:
        self._store = store
        self._memos = store.memos
        self._index = index
        self._writer = writer
        self._retained = retained
        self._opt_outs = opt_outs

    async def store(self, request: SetMemoRequest, sent_at: datetime) -> SetMemoResponse:
        """Store a memo, so that it can be found; the same message again changes nothing.

        Its point is written before the graph, and taken out again where the graph has no such memo
        then. Whoever deletes the memo has seen it in the graph, and so finds the point.
        """
        name = memo_id(request.page_id, request.page_hash, as_text(sent_at))
        reason = await self._not_set(request)
        if reason is None:
            reason = await retry_on_conflict(lambda: self._store_memo(request, as_text(sent_at)))
        if reason is None and (reason := await self._not_set(request)):
            there = await self._memos.by_ids(request.scope, [name])
            await self._writer.delete_memos(list(there.values()))
        if reason and name not in await self._memos.by_ids(request.scope, [name]):
            await self._index.delete_ids(request.scope, [name])
        return SetMemoResponse(stored=reason is None, reason=reason)

    async def _not_set(self, request: SetMemoRequest) -> NotSet | None:
        return "opted-out" if await self._opt_outs.is_out(request.user) else None

    async def _store_memo(self, request: SetMemoRequest, made_at: str) -> NotSet | None:
        """Write a memo; why not, if it is not written.

        Raises:
            ConflictError: another replica has changed one of the sources.
        """
        read = await self._read(request)
        if read is None:
            return "no-page"
        if page_hash(read.entries) != request.page_hash:
            return "page-changed"
        if len(read.shown) < len(set(request.shown)) or not self._may_be_read(read.oldest):
            return "shown-changed"
        memo = read.memo(request, made_at)
        known = (await self._memos.of_pages([memo.page_id])).get(memo.page_id)
        replaced = Stale()
        if known is not None and known.id != memo.id:
            if known.page_hash == memo.page_hash and self._may_be_read(known.oldest):
                return "has-memo"
            replaced = await self._memos.stale([], [known])
        await self._index.write([memo])
        await self._writer.set_memo(memo, replaced, read.states)
        return None

    async def _read(self, request: SetMemoRequest) -> _Read | None:
        rows = await self._store.pages(request.scope, [request.page_id])
        if not rows or not rows[0]["closed"]:
            return None
        source = Source.of_page(request.scope, rows[0])
        before = await self._memos.by_ids(request.scope, request.shown)
        sources = {source, *(memo.source for memo in before.values())}
        states = await self._store.states(sources)
        entries = await self._retained.living(request.scope, [request.page_id])
        shown = await self._memos.by_ids(request.scope, request.shown)
        return _Read(
            source, int(rows[0]["number"]), entries, list(shown.values()), list(states.values())
        )

    async def read(self, request: ListMemosRequest) -> ListMemosResponse:
        """Memos of what has not expired; of a user who has opted out none."""
        if await self._opt_outs.is_out(request.user):
            return ListMemosResponse(memos=(), total=0, opted_out=True)
        until = self._retained.expired_until
        before = request.before_page if request.source else 0
        total = await self._memos.count(request.scope, until, source=request.source, before=before)
        left_out: dict[str, str] = {}
        if request.query:
            memos, left_out = await self._similar(request, before)
        else:
            memos = await self._memos.latest(
                request.scope,
                until,
                source=request.source,
                before=before,
                limit=request.limit,
                offset=request.offset,
            )
        found = tuple(memo.to_message() for memo in memos)
        return ListMemosResponse(memos=found, total=total, left_out=left_out)

    async def _similar(
        self, request: ListMemosRequest, before: int
    ) -> tuple[Sequence[Memo], dict[str, str]]:
        ids, left_out = await self._index.search(request)
        there = await self._memos.by_ids(request.scope, ids)
        found = [there[each] for each in ids if each in there]
        return [
            memo
            for memo in found
            if self._may_be_read(memo.oldest) and (not before or memo.page < before)
        ], left_out

    async def of_pages(self, scope: Scope, pages: Sequence[str]) -> dict[str, Memo]:
        """The memos of pages of a scope, by the ids of these."""
        memos = await self._memos.of_pages(pages)
        return {
            page: memo
            for page, memo in memos.items()
            if memo.source.scope == scope and self._may_be_read(memo.oldest)
        }

    def _may_be_read(self, oldest: str) -> bool:
        """Whether nothing has expired of what was said since then."""
        return oldest > self._retained.expired_until
