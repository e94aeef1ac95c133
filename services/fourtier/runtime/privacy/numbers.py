"""Numbers with check digits: payment cards and bank accounts (IBAN)."""

import re
from collections.abc import Iterator

from fourtier.runtime.privacy.context import WORD, is_thing

#: A card's number, with the usual spaces or hyphens between its digits.
_CARD = re.compile(rf"(?<!{WORD})(?<![.,+-])\d(?:[ -]?\d){{12,18}}(?![\d.,]?\d)")
_GROUPED = re.compile(r"\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{5}")
#: The first digits of the card schemes, and how many digits their numbers have (ISO/IEC 7812).
_SCHEMES = (
    (re.compile(r"4"), (13, 16, 19)),  # Visa
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (re.compile(r"3[47]"), (15,)),  # American Express
    (re.compile(r"30[0-5]|36|3[89]"), (14, 16)),  # Diners Club
    (re.compile(r"6011|64[4-9]|65|62|60|81|82"), (16, 17, 18, 19)),  # Discover, UnionPay, RuPay
    (re.compile(r"35(?:2[89]|[3-8])"), (16,)),  # JCB
    (re.compile(r"220[0-4]"), (16, 17, 18, 19)),  # Mir
    (re.compile(r"50|5[6-9]|6[37]"), (16, 17, 18, 19)),  # Maestro
)

#: The length of an IBAN in each country that has them (SWIFT's IBAN registry).
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
        26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip
_IBAN = re.compile(rf"(?<!{WORD})[A-Z]{{2}}\d{{2}}(?:[ -]?[A-Z0-9]){{11,30}}", re.IGNORECASE)


def payment_cards(text: str) -> Iterator[tuple[int, int]]:
    """Where there are numbers of payment cards: known first digits, length and check digit."""
    for found in _CARD.finditer(text):
        number = re.sub(r"[ -]", "", found[0])
        fits = any(len(number) in lengths and head.match(number) for head, lengths in _SCHEMES)
        if (
            fits
            and luhn(number)
            and (_GROUPED.fullmatch(found[0]) or not is_thing(text, found.start()))
        ):
            yield found.span()


def luhn(number: str) -> bool:
    """Whether the check digit is right by Luhn's formula (ISO/IEC 7812-1)."""
    digits = [int(digit) for digit in reversed(number)]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]  # noqa: PLR2004
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Where there are IBANs: the length of their country and right check digits (ISO 13616)."""
    for found in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(found[0][:2].upper())
        end = length and _end_of(found[0], length)
        if end and _mod_97(re.sub(r"[ -]", "", found[0][:end])):
            yield found.start(), found.start() + end


def _end_of(text: str, characters: int) -> int:
    """Where so many letters and digits end, if a word ends there; else 0."""
    for position, character in enumerate(text, 1):
        characters -= character.isalnum()
        if not characters:
            return 0 if text[position : position + 1].isalnum() else position
    return 0


def _mod_97(iban: str) -> bool:
    moved = f"{iban[4:]}{iban[:4]}"
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1
