"""The names of months and days in English, whatever the locale of the process."""

from typing import Final

MONTH_NAMES: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAY_NAMES: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)

#: By name and by abbreviation, 1 to 12.
MONTH_NUMBERS: Final = {
    **{name: number for number, name in enumerate(MONTH_NAMES, start=1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, start=1)},
    "sept": 9,
}

#: Alternatives of a regular expression.
MONTHS: Final = "|".join(MONTH_NAMES)
MONTHS_OR_SHORT: Final = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAYS: Final = "|".join(WEEKDAY_NAMES)
