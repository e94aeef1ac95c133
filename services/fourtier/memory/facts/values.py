"""What a statement says of its thing: of which kind the value is, and whether that is all."""

import re
from dataclasses import dataclass
from typing import Literal

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.words import CONNECTORS, MORE, NOT_IN_A_NAME
from fourtier.memory.statements.calendar_words import MONTHS_OR_SHORT, WEEKDAYS

Kind = Literal["number", "time", "name", "words", "place", "any"]

#: Numbers that are written as words.
NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    "|sixty|seventy|eighty|ninety|hundred|thousand|million|half"
)
_ROUGHLY = re.compile(
    r"^(?:about|around|approximately|roughly|only|exactly|up to|over|under|at|on|by|in|until"
    r"|till|~)\s+",
    re.IGNORECASE,
)
_WEEKDAY = rf"(?:{WEEKDAYS})s?"
_MONTH = rf"(?:{MONTHS_OR_SHORT})\.?"
_TIME = re.compile(
    rf"^(?:the\s+)?(?:{_WEEKDAY}|{_MONTH}(?=\s|$)|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}"
    r"|\d{1,2}(?:st|nd|rd|th)|\d{1,2}:\d\d|\d{1,2}\s?(?:am|pm|a\.m|p\.m|o'clock)|noon|midnight"
    rf"|tomorrow|today|tonight|next\s+(?:week|month|year|{_WEEKDAY}|{_MONTH})(?=\s|$)"
    r"|(?:19|20)\d\d$|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|(?:\d+|a|one|two|three|four|five|six)\s+(?:day|week|month|year)s?\s+from\b)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"^at\s+(?:about\s+|around\s+)?(?:(?:half\s+past|quarter\s+(?:past|to))\s+)?(?:\d{{1,2}}"
    rf"|{NUMBER_WORDS})"
    r"(?![\w.%€$£]|\s+(?!now\b|that\b|because\b|since\b|until\b|sharp\b|in\s+the\b|on\b"
    r"|instead\b|today\b|tomorrow\b)\w)",
    re.IGNORECASE,
)
#: A time somewhere in a text.
TIME_INSIDE = re.compile(rf"\b(?:{_WEEKDAY}|tomorrow|today|tonight|yesterday)\b", re.IGNORECASE)
#: A date, or a time of the day, somewhere in a text.
DATE_INSIDE = re.compile(
    rf"\b(?:{_WEEKDAY}|tomorrow|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}"
    rf"|{_MONTH}\s+\d{{1,2}}|the\s+\d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}:\d\d"
    r"|(?:at|on)\s+\d{1,2}(?:\s?[ap]m)?|noon|midnight)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"^(?:[$€£¥]|(?:usd|eur|gbp|nok)\s)?\s*(?:[-+]?\d[\d,.' ]*(?:k|m|bn)?(?![\w-])"
    rf"|(?:{NUMBER_WORDS})\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(r"^(?:in|on|at|with|from|by|near|under|behind)\s+(?P<rest>\S.*)$")
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_SCALE = terms("thousand million billion hundred k")
#: "Level 12", "room B3".
_NUMBERED = re.compile(r"^(?P<noun>[a-z]+)\s+(?:[A-Z]?\d+\w*|[A-Z])$")
_COMPANY = re.compile(r"^\s*(?:with|without|as|since|including)\s[^,;]*$")
_ARTICLE = re.compile(r"^(?:the|a|an|his|her|their|its)\s+", re.IGNORECASE)
#: "A green Trek", "an old Saab 900".
_ARTICLED_NAME = re.compile(r"^an?\s+(?:[a-z]+\s+){0,2}(?P<name>[A-Z][\w-]*(?:\s[A-Z0-9][\w-]*)*)$")
_QUALITY = re.compile(
    r"^(?:a|an|so|very|really|pretty|quite|great|good|bad|nice|fun|amazing|awesome|perfect|ok|okay"
    r"|fine|important|special|beautiful|cool|tight|high|low|huge|small|big|due|ready|done|over"
    r"|here|there|like|just|being|still|all|one of|my|our|your|to)\b",
    re.IGNORECASE,
)
#: More words are not a plain value.
_MAX_WORDS = 5
_MAX_AFTER_NUMBER = 6


@dataclass(frozen=True, slots=True)
class Value:
    """Values of one kind can replace each other.

    Attributes:
        unit: what a number counts; empty where nothing says.
        whole: nothing follows it that says something else.
    """

    kind: Kind
    unit: frozenset[int] = frozenset()
    whole: bool = True


def comparable(one: Value, other: Value) -> bool:
    """Whether both are values of one kind."""
    if "any" in (one.kind, other.kind):
        return True
    texts = {"name", "words", "place"}
    if one.kind in texts and other.kind in texts:
        return one.kind != other.kind or one.unit == other.unit
    if one.kind != other.kind:
        return False
    return not one.unit or not other.unit or bool(one.unit & other.unit)


def read_value(text: str, *, cased: bool, sorted_out: bool = False) -> Value | None:
    """Read a value; None when it is none of the kinds.

    `cased` is False for a text without any capital, whose names have none either. `sorted_out`
    says that the statement names the sort of the value: "the position of tight end".
    """
    bare = _ROUGHLY.sub("", text.strip())
    if _TIME.match(bare) or _CLOCK.match(text.strip()):
        return Value("time", whole=not MORE.search(bare))
    if (number := _NUMBER.match(bare)) is not None:
        return _number(bare, number)
    if (place := _PLACE.match(text.strip())) is not None:
        return _place(place["rest"])
    if bare != text.strip():
        return None
    return _text(bare, cased=cased, sorted_out=sorted_out)


def _number(text: str, match: re.Match[str]) -> Value | None:
    after = text[match.end() :]
    more = MORE.search(after)
    rest = after[: more.start()] if more else after
    if len(rest.split()) > _MAX_AFTER_NUMBER:
        return None
    sign = " ".join(_CURRENCIES[sign] for sign in _CURRENCIES if sign in match[0] + rest)
    first = " ".join(word for word in rest.split()[:3] if not word[0].isdigit())
    return Value("number", terms(f"{first} {sign}") - _SCALE, whole=more is None)


def _place(rest: str) -> Value | None:
    """So "at home", "in the drawer", "with Vodafone": of which a newer one must say so."""
    more = MORE.search(rest)
    words = (rest[: more.start()] if more else rest).split()
    if not 0 < len(words) <= _MAX_WORDS:
        return None
    numbered = any(character.isdigit() for word in words for character in word) or (
        len(words) > 1 and len(words[-1]) == 1
    )
    unit = (
        terms(" ".join(word for word in words if len(word) > 1 and word.isalpha()))
        if numbered
        else frozenset[int]()
    )
    return Value("place", unit, whole=more is None)


def _text(text: str, *, cased: bool, sorted_out: bool) -> Value | None:
    if TIME_INSIDE.search(text):
        return None
    length = name_length(text)
    rest = " ".join(text.split()[length:])
    if length and (not rest or MORE.match(f" {rest}")):
        return Value("name", whole=_is_whole(rest))
    if (article := _ARTICLED_NAME.match(text)) is not None and name_length(article["name"]):
        return Value("name")
    if not sorted_out and _QUALITY.match(text):
        return None
    return _plain_words(text, cased=cased)


def _plain_words(text: str, *, cased: bool) -> Value | None:
    if (numbered := _NUMBERED.match(text)) is not None:
        return Value("place", terms(numbered["noun"]))
    more = MORE.search(text)
    words = _ARTICLE.sub("", text[: more.start()] if more else text).split()
    if not words or len(words) > _MAX_WORDS or NOT_IN_A_NAME & {word.casefold() for word in words}:
        return None
    return Value(
        "words" if cased else "name", whole=more is None or _is_whole(text[more.start() :])
    )


def _is_whole(rest: str) -> bool:
    """Whether what follows a value is nothing, or no statement of its own: "with my two cats"."""
    return not rest or (
        _COMPANY.match(rest) is not None and not NOT_IN_A_NAME & set(rest.casefold().split())
    )


def name_length(text: str) -> int:
    """How many words at the beginning of a text are a name: "Oslo, Norway", "Duke of Orléans"."""
    length = 0
    for index, word in enumerate(text.split(), start=1):
        bare = word.strip("\"'\u201c\u201d\u2018\u2019(),;:!")
        if _looks_named(bare):
            length = index
        elif bare.casefold() not in CONNECTORS:
            break
        if word.endswith((";", ":")):
            break
    return length


def _looks_named(word: str) -> bool:
    """Capitals, digits, addresses: "Oslo", "iPod", "al-Jubeir", "R2D2", "ann@example.org"."""
    return any(
        character.isupper() or character.isdigit() or character in "@/" for character in word
    ) or ("." in word[1:-1] and word.replace(".", "").isalpha())


def is_name(text: str) -> bool:
    """Whether a text is a name and nothing else."""
    words = text.split()
    return bool(words) and name_length(text) == len(words)
