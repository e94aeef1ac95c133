"""The time that a query names: "in May 2023", "on 7 May", "last week", "since Friday"."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from fourtier.memory.statements.calendar_words import MONTH_NUMBERS, MONTHS_OR_SHORT
from fourtier.memory.statements.dates import relative_dates

_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_IN = "in|during|since|until|of|early|late|mid"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?\b",
        rf"\b{_DAY} (?:of )?(?P<month>{MONTHS_OR_SHORT})\b\.?,?(?: (?:of )?{_YEAR})?",
        rf"\b(?P<month>{MONTHS_OR_SHORT})\b\.? {_DAY}\b(?:,? {_YEAR})?",
        rf"\b(?P<month>{MONTHS_OR_SHORT})\b\.?,? (?:of )?{_YEAR}\b",
        # A month alone may be a name or a verb: "may", "march".
        rf"\b(?:{_IN}|last) (?P<month>{MONTHS_OR_SHORT})\b(?! \d)",
        rf"\b(?:{_IN}|year) {_YEAR}\b",
    )
)
_LATELY = re.compile(
    r"\b(?:the|these|in|over|within) (?:last|past) (?:(?P<number>\d{1,3}|few|couple of|two|three"
    r"|four|five|six) )?(?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_NUMBERS = {"few": 3, "couple of": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_ISO = re.compile(r"(\d{4})(?:-W(\d\d)|-(\d\d)(?:-(\d\d))?)?")
_SINCE = re.compile(r"\b(?:since|after) (?:the )?$", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|before|by) (?:the )?$", re.IGNORECASE)
#: The words that say so may be a part of what was found.
_LONGEST_WORD = 12
_FIRST_DAY = date(1000, 1, 1)
#: What happens is often told some days later.
_SAID_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Window:
    """A time: `since` is the first moment of it, `until` the first one behind it."""

    since: datetime
    until: datetime


def window_of(query: str, asked_at: datetime) -> Window | None:
    """The time that a query names, with the days in which what happened then is told.

    Of several dates it is the time from the first to the last of them. A month or a day without a
    year is the last one before the query was asked.

    Args:
        query: a question, or words.
        asked_at: what relative dates are relative to.
    """
    today = asked_at.date()
    spans = [*_absolute(query, today), *_lately(query, today), *_relative(query, asked_at)]
    past = [(first, last) for first, last in spans if first <= today]
    if not past:
        return None
    since, until = min(first for first, _ in past), max(last for _, last in past)
    return Window(_start(since), _start(until) + timedelta(days=1) + _SAID_WITHIN)


def _absolute(query: str, today: date) -> Iterator[tuple[date, date]]:
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for found in pattern.finditer(query):
            if any(start < found.end() and found.start() < end for start, end in taken):
                continue
            parts = found.groupdict()
            month = int(
                parts.get("number") or MONTH_NUMBERS.get((parts.get("month") or "").casefold(), 0)
            )
            span = _span(int(parts.get("year") or 0), month, int(parts.get("day") or 0), today)
            if span is not None:
                taken.append(found.span())
                yield _open(span, query, found, today)


def _open(
    span: tuple[date, date], query: str, found: re.Match[str], today: date
) -> tuple[date, date]:
    """From a date to today where "since" stands before it, and from ever to it after "until"."""
    word = re.match(r"\w+ ", found[0])
    before = query[: found.start() + (word.end() if word else 0)], query[: found.start()]
    if any(_SINCE.search(text[-_LONGEST_WORD:]) for text in before):
        return span[0], max(span[1], today)
    if any(_UNTIL.search(text[-_LONGEST_WORD:]) for text in before):
        return _FIRST_DAY, span[1]
    return span


def _lately(query: str, today: date) -> Iterator[tuple[date, date]]:
    for found in _LATELY.finditer(query):
        words = (found["number"] or "1").casefold()
        number = _NUMBERS.get(words) or int(words)
        yield today - timedelta(days=number * _DAYS[found["unit"].casefold()]), today


def _relative(query: str, asked_at: datetime) -> Iterator[tuple[date, date]]:
    for meant in relative_dates(query, asked_at).values():
        if (found := _ISO.fullmatch(meant)) is None:
            continue
        year, week, month, day = (int(part or 0) for part in found.groups())
        if week:
            monday = date.fromisocalendar(year, week, 1)
            yield monday, monday + timedelta(days=6)
        elif (span := _span(year, month, day, asked_at.date())) is not None:
            yield span


def _span(year: int, month: int, day: int, today: date) -> tuple[date, date] | None:
    """The days of a date of which parts may be missing; None where there is no such date."""
    try:
        if not month:
            return date(year, 1, 1), date(year, 12, 31)
        if not year:
            year = today.year if date(today.year, month, day or 1) <= today else today.year - 1
        first = date(year, month, day or 1)
        return first, first if day else date(year, month, monthrange(year, month)[1])
    except ValueError:
        return None


def _start(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
