"""Memos: what a closed page is about, in a few sentences."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, cast

from fourtier.engines.timestamps import parse_time
from fourtier.memory.archive.entries import Entry, Source, named
from fourtier.runtime.service.stores.graph import Row
from fourtier.schema.archive import ArchiveMemo, MemoMethod, SourceKind
from fourtier.schema.message import Scope


@dataclass(frozen=True, slots=True)
class Memo:
    """What somebody made of a page. Times are sortable texts.

    Attributes:
        page: the number of its page.
        page_hash: of the entries that it was made from, see `page_hash`.
        started_at: when the first of them was said.
        ended_at: when the last of them was said.
        oldest: when the first was said of all that may be in it: of its page, and of the pages
            whose memos were shown to whoever made it.
        shown: the ids of these memos; empty where they were not read.
    """

    id: str
    source: Source
    page: int
    page_hash: str
    text: str
    method: MemoMethod
    model: str
    made_at: str
    started_at: str
    ended_at: str
    oldest: str
    shown: tuple[str, ...] = ()

    @property
    def page_id(self) -> str:
        """Of its page."""
        return self.source.page_id(self.page)

    def to_row(self) -> Row:
        """For a statement's parameter."""
        return {
            "id": self.id,
            "scope": self.source.scope.key,
            "kind": self.source.kind,
            "source": self.source.name,
            "page_id": self.page_id,
            "page": self.page,
            "page_hash": self.page_hash,
            "text": self.text,
            "method": self.method,
            "model": self.model,
            "made_at": self.made_at,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "oldest": self.oldest,
        }

    @classmethod
    def from_row(cls, row: Row, shown: Sequence[str] = ()) -> Self:
        """From a row that has every property under its own name."""
        scope = Scope.of_key(str(row["scope"]))
        return cls(
            id=str(row["id"]),
            source=Source(scope, cast("SourceKind", row["kind"]), str(row["source"])),
            page=int(row["page"]),
            page_hash=str(row["page_hash"]),
            text=str(row["text"]),
            method=cast("MemoMethod", row["method"]),
            model=str(row["model"]),
            made_at=str(row["made_at"]),
            started_at=str(row["started_at"]),
            ended_at=str(row["ended_at"]),
            oldest=str(row["oldest"]),
            shown=tuple(shown),
        )

    def to_message(self) -> ArchiveMemo:
        """For an answer."""
        return ArchiveMemo(
            id=self.id,
            page_id=self.page_id,
            page_hash=self.page_hash,
            source=self.source.name,
            source_kind=self.source.kind,
            page_number=self.page,
            content=self.text,
            method=self.method,
            model=self.model,
            shown=self.shown,
            started_at=parse_time(self.started_at),
            ended_at=parse_time(self.ended_at),
            made_at=parse_time(self.made_at),
        )


def memo_id(page_id: str, hash_of_page: str, made_at: str) -> str:
    """The same whenever one message is handled, and another one for each memo of a page."""
    return named(page_id, hash_of_page, made_at)


def page_hash(entries: Iterable[Entry]) -> str:
    """Another one whenever the entries of a page are others, or say something else."""
    said = [
        [each.id, each.speaker, each.text, each.said_at]
        for each in sorted(entries, key=lambda each: (each.position, each.id))
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
