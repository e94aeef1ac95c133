"""Passport numbers: named as such, or in a machine-readable zone with its check digits."""

import re
from collections.abc import Iterator

from fourtier.runtime.privacy.context import WORD

_NAME = re.compile(
    r"passport|reisepass|passnummer|passeport|pasaporte|passaport|paspoort|paszport|passi|passnr"
    r"|pasaport|паспорт|パスポート|护照",
    re.IGNORECASE,
)
#: From the name to the number: not over the end of a sentence.
_NUMBER = re.compile(
    r"[^.!?\n\d]{0,45}?(?:\bno\.\s?|\bnr\.\s?|\bn[°º]\s?)?"
    rf"(?<!{WORD})"
    r"(?P<number>(?:[A-Z]{1,3}[ -]?)?\d{6,9}|[CFGHJKLMNPRTVWXYZ][A-Z0-9]{8}"
    r"|\d{2} ?[A-Z]{2} ?\d{5}|[A-Z]{2}[A-Z0-9]{6}\d|[A-Z]{2,3} ?\d{6,7}"
    r"|\d{2}[ -]?\d{2}[ -]\d{6}|\d{2} \d{7}|[A-Z]\d{2} ?\d{5,6})"
    rf"(?!{WORD})"
)
#: The second line of a passport (ICAO Doc 9303, TD3).
_ZONE = re.compile(
    r"(?<![A-Z0-9<])([A-Z0-9<]{9})(\d)[A-Z<]{3}(\d{6})(\d)[MFX<](\d{6})(\d)[A-Z0-9<]{0,16}"
)
_WEIGHTS = (7, 3, 1)
_REACH = 70


def passports(text: str) -> Iterator[tuple[int, int]]:
    """Where there are passport numbers."""
    for name in _NAME.finditer(text):
        found = _NUMBER.search(text, name.end(), name.end() + _REACH)
        if found is not None and found.start() <= name.end() + 1:
            number = found["number"]
            if any(character.isdigit() for character in number):
                yield found.span("number")
    for found in _ZONE.finditer(text):
        parts = ((found[1], found[2]), (found[3], found[4]), (found[5], found[6]))
        if all(_check_digit(part) == int(digit) for part, digit in parts):
            yield found.span()


def _check_digit(part: str) -> int:
    values = (0 if character == "<" else int(character, 36) for character in part)
    return sum(value * _WEIGHTS[index % 3] for index, value in enumerate(values)) % 10
