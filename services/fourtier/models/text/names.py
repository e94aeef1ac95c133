"""The names in a text: runs of capitalised words."""

import re
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms

_CAPITALISED = r"[^\W\d_a-z][\w'\u2019&-]*"
#: Between two parts of a name: a full stop only behind one or two letters, as in "St. Ives".
_GAP = r"(?:(?<=\b\w)\.|(?<=\b\w\w)\.)?[^\S\n]"
#: Capitalised words, with what stands between the parts of a name: "Bank of the West", "La 2".
_NAME = re.compile(
    rf"\b{_CAPITALISED}(?:{_GAP}(?:(?:of|for|de|la|van|von|der)\s(?:the\s)?)?(?:{_CAPITALISED}|\d+))*"
)
_SHORTEST_NAME = 3

#: The stems of words, see `terms`.
Terms = frozenset[int]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, and its words."""

    text: str
    terms: Terms


def names_in(text: str) -> tuple[Name, ...]:
    """The names in a text, in their order, each once.

    A name is a run of capitalised words without the stop words that a sentence begins with.
    """
    found: dict[Terms, Name] = {}
    for written in dict.fromkeys(match[0] for match in _NAME.finditer(text)):
        words = written.split()
        while words and not terms(words[0]):
            words = words[1:]
        name = " ".join(words)
        stems = terms(name)
        if len(name) >= _SHORTEST_NAME and name[0].isupper() and stems:
            found.setdefault(stems, Name(name, stems))
    return tuple(found.values())
