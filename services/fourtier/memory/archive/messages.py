"""What the archive answers with."""

from collections.abc import Sequence
from typing import cast

from fourtier.engines.timestamps import parse_time
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.memos import Memo, page_hash
from fourtier.memory.archive.search import EntryHit
from fourtier.runtime.service.stores.graph import Row
from fourtier.schema.archive import ArchiveHit, ArchivePage, FoundBy, SourceKind
from fourtier.schema.erasure import Erased


def page_message(row: Row, entries: Sequence[Entry], memo: Memo | None) -> ArchivePage:
    """A page for an answer, with those of its entries that have not expired."""
    times = sorted(entry.said_at for entry in entries)
    return ArchivePage(
        id=str(row["id"]),
        source=str(row["source"]),
        source_kind=cast("SourceKind", row["kind"]),
        number=int(row["number"]),
        entries=len(entries),
        tokens=sum(entry.tokens for entry in entries),
        closed=bool(row["closed"]),
        started_at=parse_time(times[0]),
        ended_at=parse_time(times[-1]),
        page_hash=page_hash(entries),
        memo=memo.to_message() if memo else None,
    )


def hit_message(hit: EntryHit) -> ArchiveHit:
    """What was found, for an answer."""
    legs = {name: FoundBy(rank=found.rank, score=found.score) for name, found in hit.legs.items()}
    return ArchiveHit(entry=hit.entry.to_message(), score=hit.score, legs=legs)


def erased_message(entry: Entry) -> Erased:
    """For the answer to who forgets it."""
    source = entry.source
    return Erased(
        kind="entry",
        id=entry.id,
        content=entry.text,
        conversation_id="" if source.is_document else source.name,
        invocation_id="" if source.is_document else entry.invocation_id,
        document=source.name if source.is_document else "",
    )
