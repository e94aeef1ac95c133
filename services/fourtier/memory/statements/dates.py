"""Relative dates, resolved at the time at which they were said: "yesterday", "next Friday".

A date is written as in ISO 8601: a day "2026-03-01", a week "2026-W10", a month "2026-03", a year.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from fourtier.memory.statements.calendar_words import WEEKDAY_NAMES, WEEKDAYS

_NUMBERS = {
    name: number
    for number, name in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
} | {"a": 1, "an": 1, "a couple of": 2}
_NUMBER = "|".join([r"\d{1,3}", *sorted(_NUMBERS, key=len, reverse=True)])
_UNIT = r"(?P<unit>day|week|month|year)s?"
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|went|got|bought|saw|ran|ate|met|made|took|gave|found|lost"
    r"|sold|came|left"
    r"|wrote|told|said|built|drove|flew|swam|sang|spoke|began|broke|won|paid|sent|spent|slept|felt"
    r"|thought|brought|taught|wore|chose|rode|woke|heard|fell|drank|\w{3,}ed)\b",
    re.IGNORECASE,
)


def _day(offset: int) -> Callable[[re.Match[str], date, bool], str]:
    return lambda _found, said, _past: (said + timedelta(days=offset)).isoformat()


def _counted(sign: int) -> Callable[[re.Match[str], date, bool], str]:
    def resolve(found: re.Match[str], said: date, _past: bool) -> str:
        words = found["number"].casefold()
        number = sign * (int(words) if words.isdigit() else _NUMBERS[words])
        return _moved(said, found["unit"].casefold(), number)

    return resolve


def _moved(said: date, unit: str, number: int) -> str:
    if unit == "day":
        return (said + timedelta(days=number)).isoformat()
    if unit == "week":
        return _week(said + timedelta(weeks=number))
    if unit == "month":
        months = said.year * 12 + said.month - 1 + number
        return f"{months // 12:04}-{months % 12 + 1:02}"
    return f"{said.year + number:04}"


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _period(found: re.Match[str], said: date, _past: bool) -> str:
    number = {"last": -1, "this": 0, "next": 1}[found["which"].casefold()]
    unit = found["unit"].casefold()
    if unit == "weekend":
        saturday = said + timedelta(days=5 - said.weekday() + 7 * number)
        return saturday.isoformat()
    return _moved(said, unit, number)


def _weekday(found: re.Match[str], said: date, past: bool) -> str:
    """The nearest day of the name, on the side that "last", "next" or the verb says."""
    which = (found["which"] or "").casefold()
    ahead = (WEEKDAY_NAMES.index(found["day"].casefold()) - said.weekday()) % 7
    if which == "last" or (past and which != "next"):
        return (said - timedelta(days=(7 - ahead) % 7 or 7)).isoformat()
    return (said + timedelta(days=ahead or 7)).isoformat()


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], str]], ...] = tuple(
    (re.compile(rf"\b{pattern}\b", re.IGNORECASE), resolve)
    for pattern, resolve in (
        (r"(?:the )?day before yesterday", _day(-2)),
        (r"(?:the )?day after tomorrow", _day(2)),
        (r"yesterday|last night", _day(-1)),
        (r"tomorrow", _day(1)),
        (r"today|tonight|this (?:morning|afternoon|evening)", _day(0)),
        (rf"(?P<number>{_NUMBER}) {_UNIT} ago", _counted(-1)),
        (rf"in (?P<number>{_NUMBER}) {_UNIT}(?= time\b|'|[\s.,!;]|$)", _counted(1)),
        (rf"(?P<which>last|this|next) (?P<day>{WEEKDAYS})", _weekday),
        (r"(?P<which>last|this|next) (?P<unit>week|weekend|month|year)", _period),
        (rf"(?P<which>)(?<=on )(?P<day>{WEEKDAYS})", _weekday),
    )
)
_FIRST, _LAST = date(1000, 1, 1), date(9000, 1, 1)


def relative_dates(text: str, said_at: datetime) -> dict[str, str]:
    """The relative dates in a text, as they are written, each with the date that it means.

    A weekday alone is the last one where the sentence tells what has happened, else the next.
    """
    said = said_at.date()
    if not _FIRST < said < _LAST:
        return {}
    past = _PAST.search(text) is not None
    found: dict[str, str] = {}
    taken: list[tuple[int, int]] = []
    for pattern, resolve in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            found.setdefault(match[0].casefold(), resolve(match, said, past))
    return found
