"""What a research has found so far: entries, how they rank, notes, and what was searched for."""

from collections.abc import Sequence
from itertools import zip_longest

from fourtier.agents.researcher.candidates import Candidate, Pool
from fourtier.agents.researcher.ranking import Ranked, rank
from fourtier.agents.researcher.words import Question
from fourtier.schema.archive import ArchiveHit, SearchArchiveResponse
from fourtier.schema.researcher import Note, PlannedSearch

#: The first of the ranking, in which the words of the question are looked for.
_CHECKED = 5


class Findings:
    """What the roles of a research work on.

    Args:
        question: what is asked for.
        wanted: entries that are handed over at most.

    Attributes:
        pool: all entries that were found.
        ranked: the best of them, best first.
        done: the searches so far.
        newest: what the last round has found and nobody has read, the best of each search before
            the second of any.
        read: ids of entries of which notes were taken, or that were not worth any.
        notes: what the entries say about the question.
    """

    def __init__(self, question: Question, wanted: int) -> None:
        self.question = question
        self.pool = Pool()
        self.ranked: Sequence[Ranked] = ()
        self.done: list[PlannedSearch] = []
        self.newest: Sequence[Candidate] = ()
        self.read: set[str] = set()
        self.notes: tuple[Note, ...] = ()
        self._wanted = wanted

    def take(
        self,
        planned: Sequence[PlannedSearch],
        answers: Sequence[SearchArchiveResponse],
        number: int,
    ) -> int:
        """Put what a round has found with the rest, and rank it all again; how many are new."""
        new = 0
        hits = [self._answering(answer) for answer in answers]
        for search, of_search in zip(planned, hits, strict=True):
            new += self.pool.add(of_search, number, scored=search.kind == "question", search=search)
        self.done += planned
        self.ranked = rank(self.question, self.pool, max(_CHECKED, self._wanted))
        in_turns = zip_longest(*hits)
        found = dict.fromkeys(hit.entry.id for hits in in_turns for hit in hits if hit)
        self.newest = [self.pool.get(entry_id) for entry_id in found if entry_id not in self.read]
        return new

    def _answering(self, answer: SearchArchiveResponse) -> list[ArchiveHit]:
        """What asks the same says nothing about it, and has all words that are looked for."""
        return [hit for hit in answer.hits if not self.question.is_echoed_by(hit.entry.content)]

    def keep(self, notes: tuple[Note, ...]) -> tuple[Note, ...]:
        """Have these notes from now on; those of them that were not there before."""
        before, self.notes = self.notes, notes
        return tuple(note for note in notes if note not in before)

    def cited(self) -> list[Candidate]:
        """The entries that notes rest on."""
        return [self.pool.get(each) for note in self.notes for each in note.entry_ids]

    def covered(self) -> tuple[str, ...]:
        """Words of the question that the first entries have."""
        return self.question.said(self._found())

    def missing(self) -> tuple[str, ...]:
        """Words of the question that none of the first entries has."""
        return self.question.said(self.question.terms - self._found())

    def _found(self) -> set[int]:
        return set().union(*(each.candidate.terms for each in self.ranked[:_CHECKED]))

    def best(self) -> Sequence[Ranked]:
        """What is handed over: entries that the model's notes rest on, before all others."""
        cited = {each for note in self.notes if note.content for each in note.entry_ids}
        ranked = self.ranked
        if not cited.issubset(each.candidate.entry.id for each in ranked):
            ranked = rank(self.question, self.pool, len(self.pool))
        in_order = sorted(ranked, key=lambda each: each.candidate.entry.id not in cited)
        return in_order[: self._wanted]
