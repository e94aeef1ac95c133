"""The kinds of personal data, where one stands in a text, and what is left in its place."""

import re
from typing import Literal, NamedTuple, get_args

Kind = Literal[
    "credential",
    "payment-card",
    "iban",
    "passport",
    "national-id",
    "email",
    "telephone",
    "health",
]

#: Where two match the same characters, the one that stands first here has them.
KINDS: tuple[Kind, ...] = get_args(Kind)

_PLACEHOLDER = re.compile(rf"\[left out: (?P<kind>{'|'.join(KINDS)})\]")


class Span(NamedTuple):
    """Personal data in a text: from `start` up to `end`, in characters."""

    start: int
    end: int
    kind: Kind


def placeholder(kind: Kind) -> str:
    """What a text has instead of personal data."""
    return f"[left out: {kind}]"


def placeholders(text: str) -> list[Span]:
    """What was left out of a text before."""
    return [
        Span(found.start(), found.end(), kind)
        for found in _PLACEHOLDER.finditer(text)
        for kind in KINDS
        if kind == found["kind"]
    ]


def without_placeholders(text: str) -> str:
    """The text without the marks of what was left out of it."""
    return _PLACEHOLDER.sub(" ", text)
