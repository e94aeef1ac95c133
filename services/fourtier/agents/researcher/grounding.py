"""Whether a note of the model's says nothing but what its entries say, as far as code can tell.

Each of its numbers and names must be in the entries that it rests on, see `models.text.grounding`.
Their speakers, dates and titles count as said.
"""

from collections.abc import Iterable

from fourtier.agents.researcher.candidates import Candidate
from fourtier.models.text.grounding import not_said


def is_grounded(note: str, sources: Iterable[Candidate]) -> bool:
    """Whether all numbers and names of a note are in its entries."""
    return not not_said(note, "\n".join(map(_said, sources)))


def _said(source: Candidate) -> str:
    entry = source.entry
    title = source.title.text if source.title else ""
    day = entry.timestamp
    return f"{entry.speaker}. {title}. {day:%Y-%m-%d}, {day.day} {day:%B, %A}. {entry.content}"
