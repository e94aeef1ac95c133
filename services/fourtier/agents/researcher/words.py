"""The words of a question."""

import re
from dataclasses import dataclass
from functools import cache, cached_property

from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.names import Terms

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
#: Ask for something, and are not what is asked for; other closed classes are stop words already.
_ASKING = (
    "who whose whom which what when where why how name named called known tell remember one two "
    "first could would may another anything something"
)


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
