"""Telling a statement from an order to the assistant that touches its rules or tools, by rule.

What memory keeps comes back in later prompts, so an order that is kept is one that is given again
and again, in the user's name. Wishes for language, tone, length, format and form of address are not
such orders, and neither is what people tell of themselves, of others and of their own rules.

A sentence is an order when it voids or restates the assistant's rules, says what it is to answer
word for word, tells it to keep something from the user, to use a tool or to skip a confirmation, or
speaks with an authority that no statement has. The rules are widest in English; in other languages
those of the usual attacks. What passes them stands in prompts as quoted data all the same.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import chain
from typing import Literal

from fourtier.models.text.directives import (
    is_about_style,
    is_directive,
    is_directive_in_task,
    touches_control,
)
from fourtier.models.text.patterns import patterns
from fourtier.models.text.quoting import cleaned, looks_like

_SPELT = re.compile(r"\b\w(?:[-._* ]\w){4,}\b")
_SOLID = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|every|the|your|my|of|previous|prior|above"
    r"|earlier|these|safety)*(?:instructions?|rules?|guidelines?|restrictions?)"
)
_LEET = str.maketrans("013457@$", "oieastas")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")

#: Sections of `instructions.patterns`.
Section = Literal[
    "anywhere",
    "written",
    "unless-reported",
    "fixed-reply",
    "addressed",
    "standing",
    "style",
    "subject",
    "speaker",
    "markers",
]
_CLAUSE_START = re.compile(r"[.!?;:,\n]|\b(?:and|then|but|so|please)\b")
#: Characters of a text that are looked at together; and of them, those that are looked at twice.
_PIECE, _OVERLAP = 1_000, 200
#: A sign again and again: three of them say as much.
_RUN = re.compile(r"([^\w.])(?:\s*\1){3,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_DIGIT_IN_WORD = re.compile(r"[a-z][013457@$]|[013457@$][a-z]")
_NOT_A_LETTER = re.compile(r"[^a-z]")
#: Says only that a statement follows, that it is a surprise, or what the other said or may know.
_IN_PASSING = re.compile(
    r"\byou (?:(?:should|must|may|can|ought to|already) )?(?:know|remember|note)\b"
    r"|\bwould you believe (?:it|that)\b"
    r"|\b(?:if|whether) you (?:have|had|know|could|can|might|would)"
    r"(?: (?:any|some|a few|good|recommend|suggest|help|tell me|give me|explain))+\b"
    r"|\byou(?:'ve| have)? (?:just |already |earlier |also |kindly |previously )?(?:mentioned"
    r"|suggested|recommended|said|told me|gave me|given me|provided|listed"
    r"|described|explained|shared|asked)\b"
    r"|\b(?:thank|appreciate|love|see|tell|ask|show|join|with|told|asked) you\b"
    r"|\byour (?:\w+ )?(?:help|advice|insights?|suggestions?|recommendations?|tips|ideas?|thoughts"
    r"|opinions?|guidance|support|answers?|repl(?:y|ies)|explanations?|input|feedback|take|question)\b"
)
#: "Olvidé las reglas": in Romance languages the verb alone says who forgets, and its accent when.
_FIRST_PERSON = re.compile(
    r"\b(?:olvid|ignor|dimentic|esque[cç]|oubli|desactiv|disattiv|desconsider|contourn|elud|salt)"
    r"\w*?(?:é|o|ei|ai|í|i|aba|ava|ía|ado|ato|é[es]?|iste?)\b"
)


def is_forged(text: str) -> bool:
    """Whether a message has tokens of a chat template or roles in it: nothing is learned of it."""
    return any(_has("markers", looks_like(each)) for each in _readings(text))


def is_order_to_assistant(text: str, *, between_people: bool = False) -> bool:
    """Whether a statement would change the assistant's rules or its use of tools.

    Args:
        text: one statement.
        between_people: it was said to somebody else, so that "you" is not the assistant.
    """
    for each in chain.from_iterable(map(_pieces, _readings(text))):
        if _is_order(each) or is_directive(each, between_people=between_people):
            return True
        if not between_people and _is_addressed(looks_like(each)):
            return True
    return False


def without_orders(text: str) -> str:
    """What is told of a task, without the sentences that are orders for the tasks to come."""
    if not _holds_order(text):
        return text
    retained = [each for each in _SENTENCE_END.split(text) if not _holds_order(each)]
    return " ".join(each for each in retained if each.strip())


def is_order_in_step(text: str) -> bool:
    """Whether a step of a task, a tool with its arguments and result, holds a plain order."""
    return any(_is_order(each) for each in chain.from_iterable(map(_pieces, _readings(text))))


def _holds_order(text: str) -> bool:
    return any(
        _is_order(each) or is_directive_in_task(each)
        for each in chain.from_iterable(map(_pieces, _readings(text)))
    )


def _readings(text: str) -> Iterator[str]:
    """The text as it reads, and as what it may hide: base64 that is text itself."""
    yield text
    for encoded in _ENCODED.findall(cleaned(text)):
        try:
            yield base64.b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue


def _pieces(text: str) -> Iterator[str]:
    """A long text in parts that overlap, so that no pattern has to do with much of it at once."""
    text = _RUN.sub(r"\1\1\1", text)
    for begin in range(0, max(1, len(text) - _OVERLAP), _PIECE - _OVERLAP):
        yield text[begin : begin + _PIECE]


def _is_order(text: str) -> bool:
    text_read = _FIRST_PERSON.sub("-", cleaned(text).lower())
    read = " ".join(looks_like(text_read).replace("\u2019", "'").split(" "))
    if _has("markers", read) or _has("anywhere", read) or _has("written", cleaned(text)):
        return True
    if any(
        not _is_reported(read, found)
        for found in patterns("instructions.patterns")["unless-reported"].finditer(read)
    ):
        return True
    if _SPELT.search(read) or _DIGIT_IN_WORD.search(read):
        solid = _NOT_A_LETTER.sub("", read.translate(_LEET))
        if _SOLID.search(solid):
            return True
    return any(map(_fixes_reply, _SENTENCE_END.split(read)))


def _is_addressed(read: str) -> bool:
    """Whether the assistant is told something that is not about style, or a rule for ever after."""
    for sentence in _SENTENCE_END.split(read):
        if is_about_style(sentence):
            continue
        checked = sentence if touches_control(sentence) else _IN_PASSING.sub("", sentence)
        if _has("addressed", checked):
            return True
        if _has("standing", sentence) and not _has("speaker", sentence):
            return True
    return False


def _has(section: Section, text: str) -> bool:
    return patterns("instructions.patterns")[section].search(text) is not None


def _fixes_reply(sentence: str) -> bool:
    found = patterns("instructions.patterns")["fixed-reply"].search(sentence)
    return found is not None and not _is_reported(sentence, found) and not is_about_style(sentence)


def _is_reported(text: str, found: re.Match[str]) -> bool:
    """Whether a subject other than the assistant stands before the verb in its clause."""
    begin = max((each.end() for each in _CLAUSE_START.finditer(text, 0, found.start())), default=0)
    return (
        patterns("instructions.patterns")["subject"].search(text, begin, found.start()) is not None
    )
