"""Entries that searches have found, as the ranking sees them."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.names import Name, Terms, names_in
from fourtier.schema.archive import ArchiveEntry, ArchiveHit
from fourtier.schema.researcher import PlannedSearch


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that was found.

    Attributes:
        score: what the search for the whole question gave it; 0 if only a later search found it.
        round: in which it was found.
        terms: the stems of its words, those of its speaker and its title included.
        names: in it and in its title.
        title: what a document is about; nobody's turn has one.
        by_fact: the first search that found it and follows a name from a fact which it has.
    """

    entry: ArchiveEntry
    score: float
    round: int
    terms: Terms
    names: tuple[Name, ...]
    title: Name | None
    by_fact: PlannedSearch | None = None

    @classmethod
    def of(cls, hit: ArchiveHit, score: float, number: int) -> "Candidate":
        """Read the words and names of an entry."""
        entry = hit.entry
        title = _title(entry)
        head = title.text if title else ""
        return cls(
            entry,
            score,
            number,
            terms(f"{entry.speaker} {head} {entry.content}"),
            names_in(f"{head}\n{entry.content}"),
            title,
        )

    def found_by(self, search: PlannedSearch | None) -> "Candidate":
        """The same, found by a further search: if that follows a fact, it says so from now on."""
        if search is None or not search.fact_id or self.by_fact is not None:
            return self
        return replace(self, by_fact=search) if terms(search.name) <= self.terms else self


#: In fewer entries nothing is rare: a name that three of four have still joins these three.
_SMALLEST = 40


class Pool:
    """All entries that were found; how rare a word is depends on them."""

    def __init__(self) -> None:
        self._candidates: dict[str, Candidate] = {}
        self._with: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates.values())

    def get(self, entry_id: str) -> Candidate:
        """The entry of that id, which was found."""
        return self._candidates[entry_id]

    def add(
        self,
        hits: Sequence[ArchiveHit],
        number: int,
        *,
        scored: bool,
        search: PlannedSearch | None = None,
    ) -> int:
        """Add what a search found; `scored` if it was for the whole question. How many are new."""
        before = len(self._candidates)
        for hit in hits:
            if hit.entry.id not in self._candidates:
                candidate = Candidate.of(hit, hit.score if scored else 0.0, number)
                self._candidates[hit.entry.id] = candidate
                self._with.update(candidate.terms)
            known = self._candidates[hit.entry.id]
            self._candidates[hit.entry.id] = known.found_by(search)
        return len(self._candidates) - before

    @property
    def _size(self) -> int:
        return max(_SMALLEST, len(self._candidates))

    def rarity(self, term: int) -> float:
        """Inverse document frequency, as BM25 has it."""
        number, having = self._size, self._with[term]
        return math.log(1 + (number - having + 0.5) / (having + 0.5))

    def share_of_rarest(self, name: Terms, words: float) -> float:
        """How rare a name is, from 0 to 1: as rare as so many words that are nowhere else."""
        return min(1.0, sum(map(self.rarity, name)) / (words * math.log(self._size + 2)))


def _title(entry: ArchiveEntry) -> Name | None:
    if entry.source_kind != "document":
        return None
    text = PurePosixPath(entry.source).stem
    stems = terms(text)
    return Name(text, stems) if stems else None
