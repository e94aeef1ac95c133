"""Method `rule`: date, speakers, and the sentences of the page that tell the most, word for word.

A sentence tells much where it has many words of content that no sentence taken before it has, names
and numbers above all, and words that come again on the page; for its length. Statements count
before questions and requests, and what people said before what the assistant answered. No model is
asked, and no other memo is read.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.memoriser.memo import WrittenMemo
from fourtier.memory.memoriser.page import ClosedPage
from fourtier.memory.statements.leading_phrases import without_leading_phrases
from fourtier.memory.statements.sentence_kinds import Kind, kind_of
from fourtier.memory.statements.sentences import sentences
from fourtier.models.text.instructions import is_order_to_assistant
from fourtier.models.text.names import Terms, names_in
from fourtier.models.text.quoting import in_one_line, label
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.schema.archive import ArchiveEntry

#: Tokens of a memo.
MAX_TOKENS = 80
#: Sentences that are looked at; a page has about a hundred.
_SENTENCES = 400
#: Speakers that are named.
_SPEAKERS = 4
_WEIGHTS = {
    Kind.STATEMENT: 1.0,
    Kind.REQUEST: 0.5,
    Kind.QUESTION: 0.3,
    Kind.FRAGMENT: 0.3,
    Kind.SMALL_TALK: 0.0,
}
#: What the assistant or a tool says, against what people say.
_ANSWERED = 0.6
#: A word of a name, or with a digit, against any other.
_SPECIFIC = 2.0
#: Tokens that any sentence counts for beside its own: a very short one is seldom the best.
_LENGTH = 6
_HAS_DIGIT = re.compile(r"\w*\d\w*")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence in its place on the page.

    Attributes:
        weight: by its kind and who says it.
        specific: those of its terms that are in a name, or have a digit.
    """

    place: int
    speaker: str
    text: str
    weight: float
    terms: Terms
    specific: Terms


class MemoByRule:
    """Quotes the page."""

    async def write(self, page: ClosedPage) -> WrittenMemo:
        """The first line says when and who; then come the sentences in their order."""
        return WrittenMemo(await asyncio.to_thread(_memo, page), "rule")


def _memo(page: ClosedPage) -> str:
    head = _head(page)
    found = list(_sentences(page))
    taken = _best(found, MAX_TOKENS - count_tokens(head), page)
    if taken:
        return f"{head} {_quoted(taken, page)}"
    # Code, small talk, or one endless sentence: how it begins.
    longest = max(found, key=lambda each: (each.weight, len(each.terms)), default=None)
    text = longest.text if longest else in_one_line(page.entries[0].content)
    return clip(f"{head} {text}", MAX_TOKENS)


def _head(page: ClosedPage) -> str:
    first, last = page.about.started_at, page.about.ended_at
    days = f"{first:%Y-%m-%d}"
    if last.date() > first.date():
        days += f" to {last:%Y-%m-%d}"
    names = [label(each) or "somebody" for each in page.speakers]
    more = f" and {len(names) - _SPEAKERS} others" if len(names) > _SPEAKERS else ""
    return f"{days}, {', '.join(names[:_SPEAKERS])}{more}:"


def _sentences(page: ClosedPage) -> Iterator[_Sentence]:
    place = 0
    for entry in page.entries:
        for text in sentences(entry.content):
            if place == _SENTENCES:
                return
            yield _read(place, entry, in_one_line(text))
            place += 1


def _read(place: int, entry: ArchiveEntry, text: str) -> _Sentence:
    weight = _WEIGHTS[kind_of(without_leading_phrases(text))]
    if entry.part not in {"question", "turn", "block"}:
        weight *= _ANSWERED
    specific = terms(" ".join(_HAS_DIGIT.findall(text)))
    named = frozenset[int]().union(*(name.terms for name in names_in(text)))
    return _Sentence(place, entry.speaker, text, weight, terms(text), specific | named)


def _best(found: Sequence[_Sentence], tokens: int, page: ClosedPage) -> Sequence[_Sentence]:
    """As many of the best as fit, in the order of the page."""
    often = Counter(term for each in found for term in each.terms)
    left = [each for each in found if each.weight > 0 and each.terms]
    taken: list[_Sentence] = []
    covered: set[int] = set()

    def worth(each: _Sentence) -> float:
        new = sum(
            (1 + math.log(often[term])) * (_SPECIFIC if term in each.specific else 1.0)
            for term in each.terms - covered
        )
        return each.weight * new / (count_tokens(each.text) + _LENGTH)

    while left:
        best = max(left, key=lambda each: (worth(each), -each.place))
        left.remove(best)
        if not worth(best):
            break
        with_it = sorted([*taken, best], key=lambda each: each.place)
        # An order to the assistant would stand here without what was around it.
        if count_tokens(_quoted(with_it, page)) > tokens or is_order_to_assistant(best.text):
            continue
        taken, covered = with_it, covered | best.terms
    return taken


def _quoted(taken: Sequence[_Sentence], page: ClosedPage) -> str:
    """The sentences, each with its speaker where that is another than before."""
    if len(page.speakers) == 1:
        return " ".join(each.text for each in taken)
    parts: list[str] = []
    before = None
    for each in taken:
        name = label(each.speaker)
        parts.append(each.text if name in {before, ""} else f"{name}: {each.text}")
        before = name
    return " ".join(parts)
