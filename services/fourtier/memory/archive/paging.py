"""Which page an entry comes on: pages of a source are filled one after another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from fourtier.memory.archive.entries import Entry, Source
from fourtier.runtime.service.stores.graph import Row

#: Tokens of a page: one longer entry has a page of its own. The original code of the method
#: (General Agentic Memory, Yan et al. 2025) cuts at as many.
PAGE_TOKENS = 2_048
#: Those of a document's page: its paragraphs are about one thing for shorter than a conversation.
DOCUMENT_PAGE_TOKENS = 512


@dataclass(frozen=True, slots=True)
class SourceState:
    """How far a source is.

    Attributes:
        version: another one after each change, see `ArchiveStore`; empty for a new source.
        page: the number of its last page, from 1; 0 where there is none.
        tokens: of that page.
        entries: how many entries the source ever got.
        closed: whether the last page gets no more entries.
        sent_at: of a document, when the latest version was sent of which a part has come.
    """

    source: Source
    version: str = ""
    page: int = 0
    tokens: int = 0
    entries: int = 0
    closed: bool = True
    sent_at: str = ""

    @property
    def page_tokens(self) -> int:
        """How many tokens a page of it has."""
        return DOCUMENT_PAGE_TOKENS if self.source.is_document else PAGE_TOKENS

    @classmethod
    def of(cls, source: Source, row: Row | None) -> Self:
        """As the graph has it; that of a new source if it has nothing."""
        if row is None:
            return cls(source)
        return cls(
            source,
            str(row["version"]),
            int(row["page"]),
            int(row["tokens"]),
            int(row["entries"]),
            bool(row["closed"]),
            str(row["sent_at"]),
        )

    def supersedes(self, entry: Entry) -> bool:
        """Whether an entry is of a version of a document that is not the last one any more."""
        return self.source.is_document and entry.sent_at < self.sent_at

    def with_entries(self, entries: Iterable[Entry]) -> Self:
        """The same once some of its entries have come."""
        if not self.source.is_document:
            return self
        return replace(self, sent_at=max([self.sent_at, *(entry.sent_at for entry in entries)]))

    def to_row(self, following: str) -> Row:
        """For a statement's parameter, with the version that comes behind this one."""
        return {
            "id": self.source.id,
            "scope": self.source.scope.key,
            "kind": self.source.kind,
            "name": self.source.name,
            "version": self.version,
            "next": following,
            "page": self.page,
            "tokens": self.tokens,
            "entries": self.entries,
            "closed": self.closed,
            "sent_at": self.sent_at,
        }


@dataclass(frozen=True, slots=True)
class Paged:
    """Entries in their places.

    Attributes:
        state: of the source after them.
        opened: the numbers of pages that begin with them.
        closed: those of pages that are full.
        moved: entries that were there, and come on other pages.
        left: the numbers of pages that have no entry any more.
    """

    entries: list[Entry]
    state: SourceState
    opened: list[int]
    closed: list[int]
    moved: Sequence[Entry] = ()
    left: Sequence[int] = ()


def place(entries: Iterable[Entry], state: SourceState) -> Paged:
    """Put new entries of one source behind what it has, in their order.

    The blocks of a document have their positions; those of a conversation get them here.
    """
    placed: list[Entry] = []
    opened: list[int] = []
    closed: list[int] = []
    for entry in entries:
        if not state.closed and state.tokens + entry.tokens > state.page_tokens:
            state = replace(state, closed=True)
            closed.append(state.page)
        if state.closed:
            state = replace(state, page=state.page + 1, tokens=0, closed=False)
            opened.append(state.page)
        position = entry.position if state.source.is_document else state.entries
        placed.append(entry.at(state.page, position))
        state = replace(
            state,
            tokens=state.tokens + entry.tokens,
            entries=max(state.entries, position + 1),
        )
    return Paged(placed, state, opened, closed)


def place_among(new: Iterable[Entry], known: Sequence[Entry], state: SourceState) -> Paged:
    """Put blocks between those that a document has: all its pages are filled anew.

    That is seldom: parts came in another order, or a block is back that was forgotten. What comes
    next begins a page.
    """
    added = list(new)
    before = {entry.id: entry.page for entry in known}
    in_order = sorted([*known, *added], key=lambda entry: entry.position)
    paged = place(in_order, replace(state, page=0, tokens=0, closed=True))
    there = set(before.values())
    return Paged(
        [entry for entry in paged.entries if entry.id not in before],
        replace(paged.state, closed=True),
        opened=[number for number in paged.opened if number not in there],
        closed=paged.opened,
        moved=[entry for entry in paged.entries if before.get(entry.id, entry.page) != entry.page],
        left=sorted(there.difference(paged.opened)),
    )
