"""Whether what a model wrote down was really said: its quote, or else its words, are in the text.

A quote counts although case, spacing or quotation marks differ, and although it leaves something
out with an ellipsis. Without a quote that was said, a statement counts when nearly all of its words
of content are in the text, numbers and names among them; so does one that quotes a question, which
may state something beside what it asks. A statement with names or numbers that only the assistant
has used is the assistant's, whatever it quotes.
"""

import re
from dataclasses import dataclass

from fourtier.memory.statements.calendar_words import MONTH_NAMES, WEEKDAY_NAMES
from fourtier.memory.statements.sentence_kinds import content_words, is_question, straight

_SPACE = re.compile(r"\s+")
_QUOTES = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb]")
_ELLIPSIS = re.compile(r"\s*(?:\u2026|\.\.\.|\[\u2026\]|\[\.\.\.\])\s*")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s)")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: Dates are resolved by the model, as it is told to: their names and numbers need not be said.
_DATE = re.compile(
    r"\d{4}-\d{2}(?:-\d{2})?|\b(?:19|20)\d\d\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th|\.)?\s+)?"
    rf"(?:{'|'.join(map(str.title, MONTH_NAMES))})\b"
    r"(?:\s+\d{1,2}(?:st|nd|rd|th)?\b)?"
    rf"|\b(?:{'|'.join(map(str.title, WEEKDAY_NAMES))})\b"
)
_SPELLED_OUT = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
_SPELLED = {word: str(number) for number, word in enumerate(_SPELLED_OUT.split(), start=1)}
#: Letters in which two forms of a word begin alike: "lives" and "living", "wohnt" and "Wohnort".
_STEM = 4
#: The share of a statement's words of content that must have been said, where no quote was.
_MIN_SHARE = 0.65
_MIN_QUOTE = 2


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement may be made of.

    Attributes:
        text: what was said.
        known: names and words that need not be said again: who speaks, and what is known already.
        others: what somebody else said beside it, which does not count.
    """

    text: str
    known: str = ""
    others: str = ""

    def quoted(self, quote: str) -> bool:
        """Whether the quote, or each part of it, is in the text."""
        text = _plain(self.text)
        parts = [_plain(part).strip(" .,;:!?") for part in _ELLIPSIS.split(quote)]
        said = [part for part in parts if part]
        return (
            bool(said) and sum(map(len, said)) >= _MIN_QUOTE and all(part in text for part in said)
        )

    @staticmethod
    def place(quote: str, said: str) -> int:
        """How many sentences of a message stand before the one in which a quote begins.

        A quote that is not in it counts as said in its last sentence.
        """
        text = _plain(said)
        begins = text.find(_plain(_ELLIPSIS.split(quote)[0]))
        return len(_SENTENCE_END.findall(text[:begins] if begins >= 0 else text))

    def supports(self, content: str, quote: str) -> bool:
        """Whether a statement was said."""
        if self._is_of_others(content):
            return False
        stated = self.quoted(quote) and not is_question(straight(quote.strip()))
        return stated or self._has_the_words_of(content)

    def _is_of_others(self, content: str) -> bool:
        """Whether it has a name or a number that was not said, and that others have used."""
        own, others = _Words.of(f"{self.text}\n{self.known}"), _Words.of(self.others)
        return any(word in others and word not in own for word in _specific(content))

    def _has_the_words_of(self, content: str) -> bool:
        own = _Words.of(f"{self.text}\n{self.known}")
        if any(word not in own for word in _specific(content)):
            return False
        known = _Words.of(self.known)
        words = [word for word in content_words(_DATE.sub(" ", content)) if word not in known]
        found = sum(word in own for word in words)
        return found > 0 and found >= _MIN_SHARE * len(words)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words and numbers of a text, looked up by how they begin."""

    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Words":
        words = [_bare(word) for word in _WORD.findall(_digits(text))]
        return cls(frozenset(_stem(word) for word in words))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and all(
            _stem(_bare(part)) in self.stems for part in _WORD.findall(_digits(word))
        )


def _specific(content: str) -> list[str]:
    """Numbers, and words with a capital letter inside of the sentence, without dates."""
    rest = _DATE.sub(" ", straight(content))
    names = (word.removesuffix("'s") for word in rest.split()[1:] if word[0].isupper())
    return [*_NUMBER.findall(rest), *names]


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _QUOTES.sub("", straight(text))).strip().casefold()


def _digits(text: str) -> str:
    """The text with numbers as digits alone: "10,000" and "10k" are 10000."""
    text = _NUMBER.sub(lambda found: re.sub(r"[.,](?=\d{3}\b)", "", found[0]), straight(text))
    return re.sub(r"(\d+)k\b", r"\g<1>000", text)


def _bare(word: str) -> str:
    folded = word.casefold()
    return _SPELLED.get(folded, folded)


def _stem(word: str) -> str:
    return word if word.isdigit() else word[:_STEM]
