"""How commands print entries of the archive: texts of any length, each with what is said of it."""

from textwrap import indent
from typing import TYPE_CHECKING

from fourtier.interfaces.cli.output import one_line, print_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fourtier.schema.archive import ArchiveEntry, FoundBy

_MARGIN = "   "


def print_entry(number: int, entry: "ArchiveEntry", reasons: str = "") -> None:
    """Print who said it and when, the words, and below them why it is shown and its id."""
    source = "" if entry.source == entry.speaker else f", {one_line(entry.source)}"
    said = f"{entry.timestamp:%Y-%m-%d %H:%M}"
    print_text(f"{number}. {one_line(entry.speaker)} ({said}){source}", style="bold")
    print_text(indent(entry.content, _MARGIN, lambda _: True))
    print_text(f"{_MARGIN}{reasons}; {entry.id}" if reasons else _MARGIN + entry.id, style="dim")


def found_by(legs: "Mapping[str, FoundBy]") -> str:
    """By which legs of a search an entry was found, and in which place."""
    return "found by " + ", ".join(f"{name} as number {by.rank}" for name, by in legs.items())
