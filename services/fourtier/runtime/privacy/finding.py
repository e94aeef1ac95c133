"""Finds personal data in a text. Its time grows with the length of the text, whatever is in it."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from fourtier.runtime.privacy.addresses import emails
from fourtier.runtime.privacy.credentials import credentials
from fourtier.runtime.privacy.health import health
from fourtier.runtime.privacy.kinds import KINDS, Kind, Span, placeholders
from fourtier.runtime.privacy.national_ids import national_ids
from fourtier.runtime.privacy.numbers import ibans, payment_cards
from fourtier.runtime.privacy.passports import passports
from fourtier.runtime.privacy.telephones import telephones

#: Without as many digits close together there is none of these; most texts have not.
_NUMBERS: frozenset[Kind] = frozenset({"payment-card", "iban", "national-id", "telephone"})
_MASK = "\ufffc"
_MANY_DIGITS = re.compile(r"\d(?:[ .,/()<+\u00a0-]{0,3}[A-Za-z<]{0,6}[ .,/()<+\u00a0-]{0,3}\d){5}")

_FINDERS: Mapping[Kind, Callable[[str], Iterator[tuple[int, int]]]] = {
    "credential": credentials,
    "payment-card": payment_cards,
    "iban": ibans,
    "passport": passports,
    "national-id": national_ids,
    "email": emails,
    "telephone": telephones,
    "health": health,
}


def find(text: str, kinds: Collection[Kind] = KINDS) -> list[Span]:
    """Personal data of these kinds, in the order of the text; no two have a character in common.

    What two kinds match belongs to the one that stands first in `KINDS`. What was left out before
    is not found again.
    """
    taken = placeholders(text)
    possible = frozenset(kinds) if _MANY_DIGITS.search(text) else frozenset(kinds) - _NUMBERS
    left_out, searched = len(taken), _masked(text, taken)
    for kind in KINDS:
        if kind in possible:
            found = sorted(Span(start, end, kind) for start, end in _FINDERS[kind](searched))
            taken += _apart(found, sorted(taken))
    return sorted(taken[left_out:])


def _masked(text: str, placeholders: list[Span]) -> str:
    """The text without the placeholders' words: "passport" in one says nothing of what follows."""
    parts, end = [], 0
    for span in placeholders:
        parts += [text[end : span.start], _MASK * (span.end - span.start)]
        end = span.end
    return "".join([*parts, text[end:]])


def _apart(found: list[Span], taken: list[Span]) -> Iterator[Span]:
    """Those of `found` that overlap neither each other nor what is taken; both are sorted."""
    index, last_end = 0, 0
    for span in found:
        while index < len(taken) and taken[index].end <= span.start:
            index += 1
        overlaps = index < len(taken) and taken[index].start < span.end
        if span.start >= last_end and not overlaps:
            last_end = span.end
            yield span
