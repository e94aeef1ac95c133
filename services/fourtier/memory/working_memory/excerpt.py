"""Make a long text short by leaving words out, so that what is left was really there.

Beginning and end say what a text is; numbers, names and ids are what later steps need. No word is
cut in two where that can be helped: half a number is a wrong number.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from fourtier.models.text.tokens import count_tokens

_GAP = "…"
#: Text without spaces, compact JSON above all, is taken apart behind commas and brackets; not where
#: a comma may stand inside a number, with three digits behind it.
_LONG_WORD = 60
_JOINTS = re.compile(r"(?<=[,;&|}\])])(?=\D|\d{1,2}(?!\d)|\d{4})")
_DIGIT = re.compile(r"\d")
#: An address, a path or an identifier.
_ADDRESS = re.compile(r"\w[_@/\\]\w")
_NO_LETTER = re.compile(r"^\W+")
#: The share of the room for words with digits, with the words around them, and the one for names.
_DIGITS = 0.55
_NAMES = 0.2
#: Of what is then left, how much goes to the beginning rather than to the end.
_BEGINNING = 0.65


class Passage:
    """A text taken apart once, to be cut to several lengths. White space is folded."""

    def __init__(self, text: str) -> None:
        self.words = tuple(_words(text))
        self.whole = " ".join(self.words)

    def cut(self, limit: int) -> str:
        """At most `limit` characters of it, at least one."""
        if len(self.whole) <= limit:
            return self.whole
        choice = _Choice(self.words, limit)
        choice.take_each(self._with_digits[:1], limit, around=0)  # at least one, if only it fits
        choice.take_each(self._with_digits, int(limit * _DIGITS), around=1)
        choice.take_each(self._names, int(limit * _NAMES), around=0)
        choice.take_run(range(len(self.words)), int(choice.room * _BEGINNING))
        choice.take_run(range(len(self.words) - 1, -1, -1), choice.room)
        if text := choice.text():
            return text
        words, _, _ = self.whole[: limit - 1].rpartition(" ")
        return f"{words} {_GAP}" if words else self.whole[: limit - 1] + _GAP

    @cached_property
    def _with_digits(self) -> Sequence[int]:
        """Where words with digits are, those with most of them first: an amount before a count."""
        numbers = {
            index: len(_DIGIT.findall(word))
            for index, word in enumerate(self.words)
            if _DIGIT.search(word)
        }
        return sorted(numbers, key=lambda index: -numbers[index])

    @cached_property
    def _names(self) -> Sequence[int]:
        """Where names are: words with a capital that do not begin a sentence, and addresses."""
        before = [".", *(word[-1] for word in self.words)]
        return [
            index
            for index, word in enumerate(self.words)
            if (before[index] not in ".!?:" and _NO_LETTER.sub("", word)[:1].isupper())
            or _ADDRESS.search(word)
        ]


class _Choice:
    """Which words stay, within a number of characters."""

    def __init__(self, words: Sequence[str], limit: int) -> None:
        self._words = words
        self._chosen: set[int] = set()
        self.room = limit - len(
            _GAP
        )  # each span pays for the gap before it; one may follow the last

    def take_each(self, indexes: Iterable[int], share: int, *, around: int) -> None:
        """Choose the words at these indexes while the share lasts; too long ones are skipped.

        With the words around it a number still says what it counts; without them it is at least
        the number.
        """
        for index in indexes:
            for reach in (around, 0):
                span = range(max(0, index - reach), min(len(self._words), index + reach + 1))
                cost = self._cost(span)
                if cost <= min(share, self.room):
                    self._chosen.update(span)
                    self.room -= cost
                    share -= cost
                    break

    def take_run(self, indexes: range, share: int) -> None:
        """Keep words from one end on, until the share is used up; a gap is left at its end."""
        share = min(share, self.room) - len(_GAP) - 1
        self.room -= len(_GAP) + 1
        for index in indexes:
            cost = 0 if index in self._chosen else len(self._words[index]) + 1
            if cost > share:
                return
            self._chosen.add(index)
            self.room -= cost
            share -= cost

    def _cost(self, indexes: Iterable[int]) -> int:
        """Characters for words that are not chosen yet, each with a space, and for a gap."""
        new = [len(self._words[index]) + 1 for index in indexes if index not in self._chosen]
        return sum(new) + len(_GAP) + 1 if new else 0

    def text(self) -> str:
        """The words that stay, with a mark where some are missing."""
        parts: list[str] = []
        following = 0
        for index in sorted(self._chosen):
            if index > following:
                parts.append(_GAP)
            parts.append(self._words[index])
            following = index + 1
        if parts and following < len(self._words):
            parts.append(_GAP)
        return " ".join(parts)


def _words(text: str) -> Iterator[str]:
    for word in text.split():
        if len(word) <= _LONG_WORD:
            yield word
        else:
            yield from (part for part in _JOINTS.split(word) if part)


def fit(text: str, tokens: int) -> str:
    """Cut a text until it is no more than so many tokens."""
    if count_tokens(text) <= tokens:
        return text
    passage = Passage(text)
    limit = 4 * tokens
    while count_tokens(shorter := passage.cut(limit)) > tokens:
        limit = max(1, limit * 3 // 4)
    return shorter
