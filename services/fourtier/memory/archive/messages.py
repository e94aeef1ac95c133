"""What the archive answers with."""

from collections.abc import Sequence
from typing import cast

from fourtier.engines.graph.protocol import Row
from fourtier.engines.timestamps import as_moment
from fourtier.memory.archive.entries import Entry
from fourtier.schema.archive import ArchivePage, SourceKind
from fourtier.schema.erasure import Erased


def page_message(row: Row, entries: Sequence[Entry]) -> ArchivePage:
    """A page for an answer, with some of its entries."""
    times = sorted(entry.said_at for entry in entries)
    return ArchivePage(
        id=str(row["id"]),
        source=str(row["source"]),
        source_kind=cast("SourceKind", row["kind"]),
        number=int(row["number"]),
        entries=len(entries),
        tokens=sum(entry.tokens for entry in entries),
        closed=bool(row["closed"]),
        started_at=as_moment(times[0]),
        ended_at=as_moment(times[-1]),
    )


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
