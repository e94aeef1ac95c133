"""The memos that a model is shown beside a page: so it knows who and what is meant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from fourtier.memory.memoriser.page import ClosedPage
from fourtier.models.text.quoting import label, quoted
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import LIST_MEMOS, ArchiveMemo, ListMemosRequest

#: Memos that are asked for: the newest of the source, and the most similar of the scope.
_NEWEST, _SIMILAR = 15, 15
#: Tokens of the page by which memos are searched; a model of embeddings reads about as many.
_QUERY = 250


@dataclass(frozen=True, slots=True)
class Context:
    """Memos, those of what was said longest ago first."""

    memos: Sequence[ArchiveMemo] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Of all that are shown."""
        return tuple(memo.id for memo in self.memos)

    @property
    def said(self) -> str:
        """All that a memo may say of them."""
        return "\n".join(f"{memo.source}. {memo.content}" for memo in self.memos)

    def shown(self) -> str:
        """As quoted data; empty without memos."""
        return quoted("memos", map(_line, self.memos))


async def find_context(caller: Caller, page: ClosedPage, tokens: int) -> Context:
    """This source's newest memos and the most similar ones in turns, as many as fit.

    Of this source only those of earlier pages: where a memo is made again, later ones are not what
    came before it.

    Raises:
        CallFailedError, DeadlineExceededError: the archive cannot be asked.
    """
    if not tokens:
        return Context()
    about = page.about
    user, collection = page.scope
    query = clip("\n".join(entry.content for entry in page.entries), _QUERY)
    newest = await caller.call(
        LIST_MEMOS,
        ListMemosRequest(
            user=user,
            collection=collection,
            source=about.source,
            before_page=about.number,
            limit=_NEWEST,
        ),
    )
    similar = await caller.call(
        LIST_MEMOS, ListMemosRequest(user=user, collection=collection, query=query, limit=_SIMILAR)
    )
    in_turns = chain.from_iterable(zip_longest(newest.memos, similar.memos))
    earlier = (memo for memo in in_turns if memo and not _is_later(memo, page))
    taken = _fitting({memo.id: memo for memo in earlier}.values(), tokens)
    return Context(sorted(taken, key=lambda memo: (memo.ended_at, memo.page_number)))


def _is_later(memo: ArchiveMemo, page: ClosedPage) -> bool:
    about = page.about
    same = (memo.source, memo.source_kind) == (about.source, about.source_kind)
    return same and memo.page_number >= about.number


def _fitting(memos: Iterable[ArchiveMemo], tokens: int) -> list[ArchiveMemo]:
    """The first ones, as many as fit."""
    taken: list[ArchiveMemo] = []
    for memo in memos:
        tokens -= count_tokens(_line(memo))
        if tokens < 0:
            break
        taken.append(memo)
    return taken


def _line(memo: ArchiveMemo) -> str:
    return f"{memo.ended_at:%Y-%m-%d} {label(memo.source)}: {memo.content}"
