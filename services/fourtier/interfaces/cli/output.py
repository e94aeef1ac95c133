"""What commands print: tables, lists and JSON, in which nothing from memory can act on a terminal.

A memory is text that anybody may have said. Control characters in it are shown, never sent to the
terminal, where they could move the cursor, rename the window or hide what stands beside them.
Square brackets in it are no markup: the consoles read none, a style is an argument of its own.
"""

import json
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

console = Console(highlight=False, markup=False, emoji=False)
_errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)

_SPACING = {"\n", "\t"}
#: C0, DEL and C1 controls, and the marks that reverse the direction of text.
_CONTROLS = [*map(chr, (*range(0x20), *range(0x7F, 0xA0)))]
_DIRECTIONS = [*map(chr, (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))]
_VISIBLE = {
    ord(each): f"\\x{ord(each):02x}" if ord(each) < 0x100 else f"\\u{ord(each):04x}"  # noqa: PLR2004 - one byte
    for each in (*_CONTROLS, *_DIRECTIONS)
    if each not in _SPACING
}
#: In JSON, which escapes C0 by itself, all others too: they can only stand inside of texts.
_JSON = {
    ord(each): f"\\u{ord(each):04x}"
    for each in (*_CONTROLS, *_DIRECTIONS)
    if ord(each) >= 0x7F  # noqa: PLR2004 - DEL
}


def visible(text: str) -> str:
    r"""The text with its control characters written out, such as `\x1b` for an escape."""
    return text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """The same on one line."""
    return visible(" ".join(text.split()))


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 round`, `2 rounds`; with `many` where that is not an -s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def print_text(text: str, *, end: str = "\n", style: str = "") -> None:
    """Print text that may hold anything."""
    console.print(Text(visible(text), style=style), end=end, soft_wrap=True)


def print_error(text: str) -> None:
    """Print why a command ends to stderr; the text may hold anything."""
    _errors.print(Text.assemble(("fourtier: ", "red"), visible(text)))


def print_warning(text: str, *, label: str = "fourtier:") -> None:
    """Print what is wrong, and stops nothing, to stderr."""
    _errors.print(Text.assemble((f"{label} ", "yellow"), visible(text)))


def print_note(text: str, *, style: str = "") -> None:
    """Print what does not belong to the output to stderr."""
    _errors.print(Text(visible(text), style=style))


def print_json(data: object) -> None:
    """Print JSON, with no line broken: for pipes."""
    print(json.dumps(data, ensure_ascii=False, indent=2).translate(_JSON))  # noqa: T201 - unwrapped


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    whole: Collection[str] = ("id",),
    styles: Mapping[int, str] | None = None,
) -> None:
    """Print rows of cells.

    Args:
        columns: their titles.
        rows: one cell for each column.
        whole: columns that are neither cut nor broken over lines, such as ids that are copied.
        styles: of some rows, by their number.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in columns:
        table.add_column(title, overflow="fold", no_wrap=title in whole)
    for number, row in enumerate(rows):
        style = (styles or {}).get(number, "")
        table.add_row(*(Text(visible(cell)) for cell in row), style=style)
    console.print(table)


def print_items(
    items: Sequence[M],
    columns: Sequence[str],
    cells: Callable[[M], Sequence[str]],
    *,
    as_json: bool,
    none: str,
) -> None:
    """Print a list of memories, or `none` where there is none.

    Args:
        items: what was found.
        columns: the titles of the table.
        cells: of an item, one for each column.
        as_json: all fields of each item instead of a table.
        none: what to say of an empty list.
    """
    if as_json:
        print_json([item.model_dump(mode="json", exclude_none=True) for item in items])
    elif items:
        print_table(columns, [cells(item) for item in items])
    else:
        console.print(none)


def print_total(shown: int, total: int, what: str, *, as_json: bool) -> None:
    """Print how many there are in all; beside JSON only where some are left out, to stderr."""
    if not as_json:
        print_text(f"{shown} of {total} {what}")
    elif shown < total:
        print_note(f"{shown} of {total} {what}: --limit has more")


@contextmanager
def progress_bar(what: str) -> Generator[Callable[[int, int | None], None]]:
    """Show a bar; what it gives is told how many are done, and of how many if that is known."""
    from rich.progress import Progress

    with Progress(console=console) as progress:
        task = progress.add_task(escape(visible(what)), total=None)
        yield lambda done, total: progress.update(task, total=total, completed=done)
