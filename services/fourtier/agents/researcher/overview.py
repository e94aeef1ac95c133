"""What is in the archive: memos for the planner, and the pages that it wants to read."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fourtier.models.text.tokens import count_tokens
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import (
    GET_PAGE,
    LIST_MEMOS,
    ArchiveHit,
    ArchiveMemo,
    GetPageRequest,
    ListMemosRequest,
    ListMemosResponse,
    SearchArchiveResponse,
)
from fourtier.schema.message import Scope, Vector

log = logging.getLogger(__name__)

#: Memos of each half that are asked for; six thousand tokens of them are about eighty.
_ASKED = 100
#: Seconds after which is planned without memos.
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Overview:
    """Memos, those most similar to the question first, then the newest.

    Attributes:
        total: how many the scope has.
    """

    memos: Sequence[ArchiveMemo] = ()
    total: int = 0


class OverviewReader:
    """Reads the memos of one scope.

    Args:
        tokens: of all memos together, half of them for each kind; 0 reads none.
        embedding: of the question, if it is there.
    """

    def __init__(
        self, caller: Caller, scope: Scope, tokens: int, embedding: Vector | None = None
    ) -> None:
        self._caller = caller
        self._scope = scope
        self._tokens = tokens
        self._embedding = embedding

    async def read(self, question: str) -> Overview:
        """The memos for a question; none where they cannot be had: the plan is made without."""
        if not self._tokens:
            return Overview()
        try:
            async with asyncio.timeout(_SECONDS):
                similar, newest = await asyncio.gather(self._list(question), self._list(""))
        except (TimeoutError, FourtierError) as error:
            log.warning("The research is planned without memos: %s", error or "no answer in time")
            return Overview()
        first = _fitting(similar.memos, self._tokens // 2)
        left = self._tokens - sum(map(cost, first))
        shown = {memo.id for memo in first}
        rest = _fitting([memo for memo in newest.memos if memo.id not in shown], left)
        return Overview([*first, *rest], newest.total)

    async def _list(self, query: str) -> ListMemosResponse:
        user, collection = self._scope
        return await self._caller.call(
            LIST_MEMOS,
            ListMemosRequest(
                user=user,
                collection=collection,
                query=query,
                embedding=self._embedding if query else None,
                limit=_ASKED,
            ),
        )


def cost(memo: ArchiveMemo) -> int:
    """About how many tokens a memo has where it is shown."""
    return count_tokens(f"M99 {memo.ended_at:%Y-%m-%d} {memo.source}: {memo.content}")


def _fitting(memos: Sequence[ArchiveMemo], tokens: int) -> list[ArchiveMemo]:
    """The first ones, as many as fit."""
    taken: list[ArchiveMemo] = []
    for memo in memos:
        tokens -= cost(memo)
        if tokens < 0:
            break
        taken.append(memo)
    return taken


async def read_page(
    caller: Caller, scope: Scope, page_id: str, number: int
) -> SearchArchiveResponse:
    """The first entries of a page, as if they had been found; none if it is gone meanwhile.

    Raises:
        CallFailedError, DeadlineExceededError: the archive cannot be asked.
    """
    request = GetPageRequest(user=scope.user, collection=scope.collection, page_id=page_id)
    answer = await caller.call(GET_PAGE, request)
    if answer.opted_out:
        return SearchArchiveResponse(hits=(), opted_out=True)
    entries = answer.entries[:number]
    return SearchArchiveResponse(hits=tuple(ArchiveHit(entry=each, score=0) for each in entries))
