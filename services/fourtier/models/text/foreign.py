"""Directives to an assistant in other languages than English: by words of rules and of ordering.

A grammar for each language would be long; words are enough to tell most of them: a sentence that
has one for what an assistant guards (rules, permissions, tools, secrets, its users) and one that
orders (ought, always, never, without), and in which nobody speaks of himself; or an imperative.
"""

from typing import Literal

from fourtier.models.text.patterns import patterns
from fourtier.models.text.quoting import cleaned, looks_like

Section = Literal[
    "control",
    "orders",
    "imperative",
    "remember",
    "machine",
    "oneself",
    "certain",
    "written-control",
    "written-orders",
    "written-machine",
    "written-oneself",
    "written-certain",
]


def is_foreign_directive(sentence: str) -> bool:
    """Whether a sentence orders an assistant about, by the words of other languages."""
    read = looks_like(sentence).replace("\u2019", "'")
    if _has("certain", read):
        return True
    controls, machine = _has("control", read), _has("machine", read)
    if (controls or machine) and _has("imperative", read):
        return True
    ordered = _has("orders", read) or _has("remember", read)
    if ordered and (machine or (controls and not _has("oneself", read))):
        return True
    if sentence.isascii():
        return False
    written = cleaned(sentence).lower()
    if _has("written-certain", written):
        return True
    return _has("written-orders", written) and (
        _has("written-machine", written)
        or (_has("written-control", written) and not _has("written-oneself", written))
    )


def _has(section: Section, text: str) -> bool:
    return patterns("foreign.patterns")[section].search(text) is not None
