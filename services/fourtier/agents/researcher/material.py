"""What a model is shown of a research: entries, notes, earlier searches, and memos of pages.

All of it is quoted data (`models.text.quoting`). A handle names an entry or a page in one research
alone, so that the model never handles an id, and can name none that it was not shown.
"""

from collections.abc import Iterable, Iterator, Sequence

from fourtier.agents.researcher.candidates import Candidate
from fourtier.agents.researcher.overview import Overview
from fourtier.models.text.quoting import in_one_line, label, plain, quoted
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.schema.archive import ArchiveMemo
from fourtier.schema.researcher import Note, PlannedSearch

#: The question, the notes, and one entry each get this part of the tokens at most.
_QUESTION, _NOTES, _ENTRY = 4, 4, 4


class Material:
    """Writes what the model reads.

    Args:
        tokens: of all that is shown at a time.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._candidates: dict[str, Candidate] = {}
        self._handles: dict[str, str] = {}
        self._memos: dict[str, ArchiveMemo] = {}

    def candidate(self, handle: str) -> Candidate | None:
        """The entry that was shown by that handle."""
        return self._candidates.get(handle.strip(" []").upper())

    def name(self, candidates: Iterable[Candidate]) -> None:
        """Give handles to entries that were shown before the research was interrupted."""
        for candidate in candidates:
            if candidate.entry.id not in self._handles:
                self._name(candidate, self._next_handle)

    @property
    def _next_handle(self) -> str:
        return f"E{len(self._candidates) + 1}"

    def _name(self, candidate: Candidate, handle: str) -> None:
        self._candidates[handle] = candidate
        self._handles[candidate.entry.id] = handle

    def memo(self, handle: str) -> ArchiveMemo | None:
        """The memo that was shown by that handle."""
        return self._memos.get(handle.strip(" []").upper())

    def memos(self, overview: Overview) -> str:
        """What pages of the archive are about, each with a handle; empty without memos."""
        if not overview.memos:
            return ""
        for memo in overview.memos:
            self._memos[f"M{len(self._memos) + 1}"] = memo
        items = [
            f"{handle} {memo.ended_at:%Y-%m-%d} {label(memo.source)}: {in_one_line(memo.content)}"
            for handle, memo in self._memos.items()
        ]
        counted = f"{len(items)} of {max(overview.total, len(items))} shown"
        return f"Memos of the archive's pages, {counted}:\n{quoted('memos', items)}"

    def question(self, text: str) -> str:
        """The question."""
        return f"Question:\n{plain(clip(text, self._tokens // _QUESTION))}"

    def notes(self, notes: Sequence[Note]) -> str:
        """The notes so far, with the handles of the entries that they rest on."""
        items = _fitting(map(self._note, notes), self._tokens // _NOTES)
        return f"Notes so far:\n{quoted('notes', items) or 'none'}"

    def searches(self, done: Sequence[PlannedSearch]) -> str:
        """What was searched for."""
        items = _fitting((in_one_line(each.query) for each in done), self._tokens // _NOTES)
        return f"Searched for already:\n{quoted('searches', items) or 'nothing'}"

    def entries(
        self, candidates: Iterable[Candidate], beside: str
    ) -> tuple[str, Sequence[Candidate]]:
        """New entries, as many of the first as fit beside a text, and which; each gets a handle.

        Of a long entry the beginning is shown.
        """
        left = self._tokens - count_tokens(beside)
        items: list[str] = []
        shown: list[Candidate] = []
        for candidate in candidates:
            handle = self._next_handle
            item = f"{handle} {self._said(candidate)}"
            left -= count_tokens(item)
            if left < 0:
                break
            self._name(candidate, handle)
            items.append(item)
            shown.append(candidate)
        return f"New entries:\n{quoted('archive', items) or 'none'}", shown

    def _said(self, candidate: Candidate) -> str:
        entry = candidate.entry
        who = label(entry.speaker) or label(entry.source)
        return f"{who} ({entry.timestamp:%Y-%m-%d}): {clip(entry.content, self._tokens // _ENTRY)}"

    def _note(self, note: Note) -> str:
        handles = [self._handles[each] for each in note.entry_ids if each in self._handles]
        rests_on = f" [{', '.join(handles)}]" if handles else ""
        return f"{note.content or note.quote}{rests_on}"


def _fitting(items: Iterable[str], tokens: int) -> Iterator[str]:
    """The first of the items, as many as fit."""
    for item in items:
        tokens -= count_tokens(item)
        if tokens < 0:
            return
        yield item
