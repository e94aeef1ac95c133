"""The checkpoint of a research, so that another replica can go on with it.

Entries are kept by their ids alone, and read again: what was forgotten meanwhile does not come
back. A field that holds an id is named so that the privacy filter of what is written leaves it as
it is, which it does for names that end with `_id`.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import Field

from fourtier.agents.researcher.roles import Plan
from fourtier.schema.archive import ArchiveEntry, SearchArchiveResponse
from fourtier.schema.message import Message
from fourtier.schema.researcher import Evidence, Note, PlannedSearch, Receipt


class EntryId(Message):
    """An entry by its id."""

    entry_id: str


class Found(Message):
    """An entry that a search found, and how well it fits.

    `checksum` is that of its content: a block of a document has the same id in another version.
    """

    entry_id: str
    page_id: str
    checksum: int
    score: float

    @classmethod
    def of(cls, entry: ArchiveEntry, score: float) -> Self:
        """Without the content."""
        return cls(
            entry_id=entry.id,
            page_id=entry.page_id,
            checksum=checksum(entry),
            score=score,
        )


class StoredNote(Message):
    """A note, with the entries that it rests on, the first of them first."""

    speaker: str
    quote: str
    content: str
    covers: tuple[str, ...]
    rests_on: tuple[EntryId, ...]

    @classmethod
    def of(cls, note: Note) -> Self:
        """With its ids as the privacy filter leaves them."""
        return cls(
            speaker=note.speaker,
            quote=note.quote,
            content=note.content,
            covers=note.covers,
            rests_on=_ids(note.entry_ids or (note.entry_id,)),
        )

    def to_note(self) -> Note:
        """As it was."""
        ids = tuple(each.entry_id for each in self.rests_on)
        return Note(
            entry_id=ids[0],
            entry_ids=ids,
            speaker=self.speaker,
            quote=self.quote,
            content=self.content,
            covers=self.covers,
        )


class StoredRound(Message):
    """A round as far as it has come: None for what it has not come to yet.

    `hits` are those of each search. They are kept with the notes: searching again costs little.
    `read` are the entries that were read up to then.
    """

    searches: tuple[PlannedSearch, ...]
    info_needs: tuple[str, ...] = ()
    hits: tuple[tuple[Found, ...], ...] = ()
    read: tuple[EntryId, ...] = ()
    notes: tuple[StoredNote, ...] | None = None
    enough: bool | None = None

    @classmethod
    def planned(cls, plan: Plan) -> Self:
        """One that begins. The whole question is not repeated in it."""
        searches = (
            each.model_copy(update={"query": ""}) if each.kind == "question" else each
            for each in plan.searches
        )
        return cls(searches=tuple(searches), info_needs=plan.info_needs)

    def noted(
        self,
        answers: Sequence[SearchArchiveResponse],
        read: Iterable[str],
        notes: Iterable[Note],
    ) -> Self:
        """With what was found, and noted of it."""
        return self.model_copy(
            update={
                "hits": tuple(
                    tuple(Found.of(hit.entry, hit.score) for hit in answer.hits)
                    for answer in answers
                ),
                "read": _ids(read),
                "notes": tuple(map(StoredNote.of, notes)),
            }
        )


class StoredEvidence(Message):
    """Evidence, with its entry by the id."""

    found: Found
    round: int
    covers: tuple[str, ...]
    linked_to_id: str
    link: str


class StoredEnd(Message):
    """What a research that has ended handed over."""

    round: int
    evidence: tuple[StoredEvidence, ...]
    notes: tuple[StoredNote, ...]
    receipt: Receipt

    @classmethod
    def of(
        cls, number: int, evidence: Iterable[Evidence], notes: Iterable[Note], receipt: Receipt
    ) -> Self:
        """Without the content of the entries; `notes` are those of the model."""
        retained = (
            StoredEvidence(
                found=Found.of(each.entry, each.score),
                round=each.round,
                covers=each.covers,
                linked_to_id=each.linked_to,
                link=each.link,
            )
            for each in evidence
        )
        return cls(
            round=number,
            evidence=tuple(retained),
            notes=tuple(StoredNote.of(note) for note in notes if note.content),
            receipt=receipt,
        )


class Checkpoint(Message):
    """The checkpoint of a research: its rounds, or its end, and what it took until then."""

    rounds: tuple[StoredRound, ...] = ()
    end: StoredEnd | None = None
    completions: int = 0
    in_token: int = 0
    out_token: int = 0
    degraded: dict[str, str] = Field(default={})
    milliseconds: float = 0.0
    resumed: int = 0

    @property
    def found(self) -> list[Found]:
        """The entries that it rests on; some of them more than once."""
        if self.end is not None:
            return [each.found for each in self.end.evidence]
        return [found for each in self.rounds for hits in each.hits for found in hits]


def checksum(entry: ArchiveEntry) -> int:
    """Another one for another content."""
    return zlib.crc32(entry.content.encode())


def _ids(entry_ids: Iterable[str]) -> tuple[EntryId, ...]:
    return tuple(EntryId(entry_id=each) for each in entry_ids)
