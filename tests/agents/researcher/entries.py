"""Entries of an archive, as a search finds them."""

from datetime import UTC, datetime

from fourtier.schema.archive import ArchiveEntry, ArchiveHit

SAID_AT = datetime(2026, 3, 1, 10, tzinfo=UTC)


def turn(name: str, content: str, score: float, *, speaker: str = "Mia") -> ArchiveHit:
    """Something that was said; its id is its name."""
    entry = ArchiveEntry(
        id=name,
        page_id="p1",
        source="c1",
        speaker=speaker,
        content=content,
        timestamp=SAID_AT,
    )
    return ArchiveHit(entry=entry, score=score)


def document(name: str, content: str, score: float) -> ArchiveHit:
    """A block of a document; its id is the document's name."""
    hit = turn(name, content, score, speaker=name)
    kind = {"source": name, "source_kind": "document"}
    return ArchiveHit(entry=hit.entry.model_copy(update=kind), score=score)
