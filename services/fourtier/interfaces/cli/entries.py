"""How commands print entries of the archive: texts of any length, each with what is said of it."""

from textwrap import indent
from typing import TYPE_CHECKING

from fourtier.interfaces.cli.output import one_line, print_text

if TYPE_CHECKING:
    from fourtier.schema.archive import ArchiveEntry

_MARGIN = "   "


def print_entry(number: int, entry: "ArchiveEntry", reasons: str = "") -> None:
    """Print who said it and when, the words, and below them why it is shown and its id."""
    source = "" if entry.source == entry.speaker else f", {one_line(entry.source)}"
    said = f"{entry.timestamp:%Y-%m-%d %H:%M}"
    print_text(f"{number}. {one_line(entry.speaker)} ({said}){source}", style="bold")
    print_text(indent(entry.content, _MARGIN, lambda _: True))
    print_text(f"{_MARGIN}{reasons}; {entry.id}" if reasons else _MARGIN + entry.id, style="dim")
