"""The words of a question, and the names in a text."""

import re
from dataclasses import dataclass
from functools import cache, cached_property

from fourtier.engines.vectors.sparse import terms

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_CAPITALISED = r"[^\W\d_a-z][\w'\u2019&-]*"
#: Between two parts of a name: a full stop only behind one or two letters, as in "St. Ives".
_GAP = r"(?:(?<=\b\w)\.|(?<=\b\w\w)\.)?[^\S\n]"
#: Capitalised words, with what stands between the parts of a name: "Bank of the West", "La 2".
_NAME = re.compile(
    rf"\b{_CAPITALISED}(?:{_GAP}(?:(?:of|for|de|la|van|von|der)\s(?:the\s)?)?(?:{_CAPITALISED}|\d+))*"
)
#: Ask for something, and are not what is asked for; other closed classes are stop words already.
_ASKING = (
    "who whose whom which what when where why how name named called known tell remember one two "
    "first could would may another anything something"
)
_SHORTEST_NAME = 3

Terms = frozenset[int]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, and its words."""

    text: str
    terms: Terms


@dataclass(frozen=True)
class Question:
    """What is asked for.

    Attributes:
        words: each word that counts, by its stem.
    """

    text: str
    words: dict[int, str]

    @classmethod
    def of(cls, text: str) -> "Question":
        """Read the words of a question."""
        words: dict[int, str] = {}
        for match in _WORD.finditer(text):
            for stem in terms(match[0]) - _asking():
                words.setdefault(stem, match[0])
        return cls(text, words)

    @cached_property
    def terms(self) -> Terms:
        """The stems of its words."""
        return frozenset(self.words)

    def is_echoed_by(self, text: str) -> bool:
        """Whether a text asks the same, in no other words. What states it is an answer."""
        asks = text.rstrip().endswith("?")
        return asks and terms(text) - _asking() <= self.terms

    def said(self, stems: frozenset[int] | set[int]) -> tuple[str, ...]:
        """Those of its words that have one of these stems, in their order."""
        return tuple(dict.fromkeys(word for stem, word in self.words.items() if stem in stems))


@cache
def _asking() -> Terms:
    """Stems of the words that only ask; made when needed, as modules load without the engine."""
    return terms(_ASKING)


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
