"""Whether a note of the model's says nothing but what its entries say, as far as code can tell.

Numbers and names are where an invented fact does harm, and where one can be seen: each of a note's
must be in the entries that it rests on. Their speakers, dates and titles count as said. The first
word of a sentence is a name here, too, unless it is a stop word: a true note may be lost by that,
and an invented name is not let through.
"""

import re
from collections.abc import Iterable

from fourtier.agents.researcher.candidates import Candidate
from fourtier.agents.researcher.words import names_in
from fourtier.engines.vectors.sparse import terms

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_WORD = re.compile(r"[^\W\d_]+")
#: As digits; "one" is not a number more often than it is one.
_SPELLED_OUT = "two three four five six seven eight nine ten eleven twelve"
_SPELLED = {word: str(number) for number, word in enumerate(_SPELLED_OUT.split(), start=2)}


def is_grounded(note: str, sources: Iterable[Candidate]) -> bool:
    """Whether all numbers and names of a note are in its entries."""
    said = "\n".join(_said(each) for each in sources)
    stems = terms(said)
    names = names_in(_NUMBER.sub(" ", note))  # "Oslo for 1200" would be one name
    return _numbers(note) <= _numbers(said) and all(name.terms <= stems for name in names)


def _said(source: Candidate) -> str:
    entry = source.entry
    title = source.title.text if source.title else ""
    day = entry.timestamp
    return f"{entry.speaker}. {title}. {day:%Y-%m-%d}, {day.day} {day:%B, %A}. {entry.content}"


def _numbers(text: str) -> set[str]:
    """The numbers in a text, without what only makes them easier to read."""
    digits = {_THOUSANDS.sub("", number).lstrip("0") for number in _NUMBER.findall(text)}
    words = {_SPELLED.get(word.casefold(), "") for word in _WORD.findall(text)}
    return (digits | words) - {""}
