"""The forms that secrets have: by length, kinds of characters and how they change."""

import re
from collections.abc import Callable
from itertools import pairwise

_KEY, _RANDOM = 8, 20
#: Random letters and digits change their kind in three of five places, a name in one of four.
_CHANGES = 0.4
#: Different characters of a random string.
_DISTINCT = 12
#: Code, a variable or a mask in the place of a value.
_CODE = re.compile(
    r"\$.*|<.*|\{.*|\*+|\.+|[A-Za-z_]\w*(?:\.\w+)*[\[(].*|[a-z_]+(?:\.[a-z_]+)+"
    r"|(?i:str|string|none|null|true|false)",
    re.DOTALL,
)
#: A range, a time of day or a date, a percentage, or the number of a ticket.
_QUANTITY = re.compile(
    r"\d{1,3}[-–]\d{1,3}|\d{1,2}:\d\d|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d+(?:\.\d+)?%"
    r"|[A-Za-z]+[-_]?\d{1,2}(?:st|nd|rd|th)|\d+(?:st|nd|rd|th)"
)
_TICKET = re.compile(r"[A-Za-z]+[-_]\d+")
#: A sign between two letters or digits, as words and code rarely have it.
_SIGN = re.compile(r"(?<=\w)[!$%^&*#?](?=\w)")
#: Playa_Azul, Tulp-en-Kaas
_JOINED = re.compile(r"\w+[-_](?:[a-z]+[-_])*[A-Z]\w+")
#: AAAA-BBBB-CCCC
_GROUPS = re.compile(r"([A-Z0-9]{4,8})(?:-[A-Z0-9]{4,8}){2,}")
_SENTENCE = r"[a-z]{3,}(?:ed|ing)\b"
#: Words as a passphrase has them, to the end of what is said: 4 or more of 4 to 8 letters, of which
#: none is a participle; 8 or more of 3 to 8 letters.
PHRASE = re.compile(
    rf"(?:(?!{_SENTENCE})[a-z]{{4,8}}(?:[ -](?!{_SENTENCE})[a-z]{{4,8}}){{3,24}}"
    r"|[a-z]{3,8}(?:[ -][a-z]{3,8}){7,24})(?=[\"'`.!?\n]|\s*\Z)"
)


def has_digit(value: str) -> bool:
    """Whether there is a digit, as names of things seldom have one."""
    return any(map(str.isdigit, value))


def is_value(value: str) -> bool:
    """Whether a value is given, and not a variable, a call or a mask."""
    return not _CODE.fullmatch(value)


def is_password(value: str) -> bool:
    """Whether it has the form of a password or a code: digits, or a sign within a word."""
    if _CODE.fullmatch(value) or _QUANTITY.fullmatch(value):
        return False
    digits, letters = _count(str.isdigit, value), _count(str.isalpha, value)
    many, short = 3, 4
    return (
        digits >= many
        or (digits > 0 and letters > 0 and len(value) >= short)
        or bool(_SIGN.search(value))
        or bool(_JOINED.fullmatch(value) or _GROUPS.fullmatch(value))
    )


def is_key(value: str) -> bool:
    """Whether it has the form of a key or a token: letters and digits, longer than a word."""
    if _CODE.fullmatch(value) or _TICKET.fullmatch(value) or _QUANTITY.fullmatch(value):
        return False
    digits, letters = _count(str.isdigit, value), _count(str.isalpha, value)
    mixed = has_lower_and_upper(value) or value.endswith("=")
    return len(value) >= _KEY and (
        (digits > 1 and letters > 0)
        or (digits > 0 and mixed)
        or (mixed and _changes(value) >= _CHANGES)
        or value.endswith("=")
        or bool(_GROUPS.fullmatch(value))
    )


def is_random(value: str) -> bool:
    """Whether its letters and digits are mixed as only chance mixes them."""
    return (
        len(value) >= _RANDOM
        and has_digit(value)
        and has_lower_and_upper(value)
        and len(set(value)) >= _DISTINCT
        and _changes(value) >= _CHANGES
    )


def has_lower_and_upper(value: str) -> bool:
    """Whether it has small letters and capitals."""
    return any(map(str.islower, value)) and any(map(str.isupper, value))


def _count(is_kind: Callable[[str], bool], value: str) -> int:
    return sum(map(is_kind, value))


def _changes(value: str) -> float:
    """The share of neighbours that are of two kinds: small, capital, digit, sign."""
    kinds = [
        "a" if each.islower() else "A" if each.isupper() else "0" if each.isdigit() else "-"
        for each in value
    ]
    return sum(one != other for one, other in pairwise(kinds)) / max(1, len(value) - 1)
