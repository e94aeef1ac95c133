"""Telephone numbers, checked against the numbering plans that `phonenumbers` knows."""

import re
from collections.abc import Callable, Iterator

import phonenumbers

from fourtier.runtime.privacy.context import WORD, is_named, is_thing

_CANDIDATE = re.compile(
    rf"(?<!{WORD})(?<![.,/:#$€£¥%+-])(?:\+|00|\()?\d(?:[ ()./\u00a0-]{{0,3}}\d){{5,15}}"
    rf"(?!{WORD}|[%€$£°]|[.,:/-]\d)"
)
_NAMES = re.compile(
    r"\b(?:tele)?(?:phone|fone)s?\b|\btel\b|\bcall(?:ed|ing)?\b|\bmobile\b|\bcell(?:phone)?\b|\bfax\b"
    r"|\bwhats\s?app\b|\bsms\b|\btext\s(?:me|her|him|us|them)\b|\bring\s(?:me|her|him|us)\b|\breach\b"
    r"|\bdial\b|\blandline\b|\bhotline\b|\bsignal\b|\b(?:my|her|his|their|our)\snumber\b|'s\snumber\b"
    r"|\btelef\w+|\bhandy\w*|\brufnummer|\bmobilnummer|\bmobil\b|\banruf\w*|\brufe?\b|\bruf\s"
    r"|\bnuméro\b|\bportable\b|\bappel\w*|\btéléphon\w*|\bteléfono|\bmóvil|\bcelular|\bllám\w*"
    r"|\bllama\w*|\bcellulare|\bchiam\w*|\btelemóvel|\bligue\b|\bliga\w*|\bbel\s(?:me|hem|haar|ons)"
    r"|\bmobiel\w*|\bnumer\b|\bzadzwoń\w*|\bkomórk\w*|\bring\s(?:meg|mig)\b|\bnummer(?:et|)\b"
    r"|\bpuhelin\w*|\bтелефон\w*|電話|电话",
    re.IGNORECASE,
)
#: Written so that it is hardly anything else.
_BY_FORM = (
    ("US", re.compile(r"\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}-\d{3}-\d{4}|1-\d{3}-\d{3}-\d{4}")),
    ("FR", re.compile(r"0\d(?:[ .]\d{2}){4}")),
    ("GB", re.compile(r"\(?0\d{2,4}\)? \d{3,4} \d{3,4}|07\d{3} \d{6}")),
    ("DE", re.compile(r"\(?0\d{2,4}\)?[ /-]\d{3,4}[ -]?\d{2,5}[ -]?\d{0,4}")),
)
_REGIONS = [
    "US",
    "GB",
    "DE",
    "FR",
    "ES",
    "IT",
    "PT",
    "NL",
    "BE",
    "CH",
    "AT",
    "SE",
    "NO",
    "DK",
    "FI",
    "PL",
    "CZ",
    "IE",
    "BR",
    "MX",
    "AR",
    "IN",
    "AU",
    "NZ",
    "JP",
    "ZA",
    "TR",
    "RO",
    "HU",
    "GR",
]
_DATE = re.compile(r"\(?(?:19|20)\d{2}[-./ ]\d{1,2}[-./ ]\d{1,2}.*|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_YEARS = re.compile(r"(?:19|20)\d{2}[ -]+(?:19|20)\d{2}")
#: How many there are of something: a round number, or one before what is counted.
_ROUND = re.compile(r".*000[ .]?000|\d*00000\d?")
_COUNTED = re.compile(
    r"\s+(?!is\b|was\b|as\b|this\b|unless\b)[a-z]{2,}s\b|\s+(?:people|million|percent)\b"
)
_SHORTEST, _LONGEST = 7, 15


def telephones(text: str) -> Iterator[tuple[int, int]]:
    """Where there are telephone numbers."""
    for found in _CANDIDATE.finditer(text):
        number = found[0]
        digits = sum(character.isdigit() for character in number)
        if not _SHORTEST <= digits <= _LONGEST or _DATE.fullmatch(number) or _YEARS.match(number):
            continue
        if number.startswith(("+", "00")):
            if _is_international(number):
                yield found.span()
        elif not is_thing(text, found.start()) and (
            _has_form(number) or (_is_named(text, found) and _is_national(number))
        ):
            yield found.span()


def _is_named(text: str, found: re.Match[str]) -> bool:
    """Whether the words around say that it is a telephone number, and not that it is a quantity."""
    if _ROUND.fullmatch(found[0]) or _COUNTED.match(text, found.end()):
        return False
    return is_named(_NAMES, text, *found.span())


def _is_international(number: str) -> bool:
    plus = number if number.startswith("+") else f"+{number[2:]}"
    return _fits(plus, None, phonenumbers.is_possible_number)


def _has_form(number: str) -> bool:
    return any(
        form.fullmatch(number) and _fits(number, region, phonenumbers.is_valid_number)
        for region, form in _BY_FORM
    )


def _is_national(number: str) -> bool:
    return any(_fits(number, region, phonenumbers.is_possible_number) for region in _REGIONS)


def _fits(
    number: str, region: str | None, check: Callable[[phonenumbers.PhoneNumber], bool]
) -> bool:
    try:
        return check(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False
