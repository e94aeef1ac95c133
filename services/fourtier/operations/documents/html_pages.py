"""HTML: the text of a page, a block for each block element, tables and lists line by line."""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fourtier.client.documents import bounded
from fourtier.runtime.extras import extra_needed

if TYPE_CHECKING:
    from bs4 import Tag

_DROPPED = ["head", "nav", "noscript", "script", "style", "svg", "template"]
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_OTHER_BLOCKS = (
    "address article aside blockquote body caption dd details dialog div dl dt "
    "fieldset figcaption figure footer form header hgroup hr html legend li main ol p "
    "search section summary table tbody td tfoot th thead tr ul"
)
_BLOCKS = _HEADINGS.union(_OTHER_BLOCKS.split())
#: What stands line by line, unless it has one of these in it: then it is there for the layout.
_ROWS = {"table": "tr", "ul": "li", "ol": "li"}
_IN_LAYOUT = {
    "table": ["table", "pre", *sorted(_HEADINGS)],
    "ul": ["table", "pre", "ul", "ol", *sorted(_HEADINGS)],
}
_IN_LAYOUT["ol"] = _IN_LAYOUT["ul"]


def read_html(content: bytes) -> Iterator[str]:
    """The blocks of a page, in the encoding that it names, else in UTF-8.

    Raises:
        MissingExtraError: beautifulsoup4 is not installed.
    """
    with extra_needed("documents"):
        from bs4 import BeautifulSoup  # noqa: PLC0415 - of an extra
    with warnings.catch_warnings():  # about what the page looks like
        warnings.simplefilter("ignore", UserWarning)
        page = BeautifulSoup(content, "html.parser")
    for tag in page(_DROPPED):
        tag.decompose()
    reading = _Reading()
    reading.read(page)
    for block, is_code in reading.blocks:
        yield from bounded(block, code=is_code)


class _Reading:
    """Goes through a page.

    Attributes:
        blocks: of each its text, and whether it is cut at its lines.
    """

    def __init__(self) -> None:
        self.blocks: list[tuple[str, bool]] = []
        self._headings: list[str] = []
        self._lines: list[str] = []
        self._line: list[str] = []

    def read(self, page: "Tag") -> None:
        """Read a page, however deep its elements are nested."""
        from bs4.element import CData, NavigableString, Tag  # noqa: PLC0415 - of an extra

        around = [(page, iter(list(page.children)))]
        while around:
            tag, children = around[-1]
            child = next(children, None)
            if child is None:
                around.pop()
                self._leave(tag.name)
            elif isinstance(child, Tag):
                if self._enter(child):
                    around.append((child, iter(list(child.children))))
            elif type(child) in (NavigableString, CData):  # no comment, no declaration
                self._line.append(str(child))
        if self._headings:
            self.blocks.append(("\n".join(self._headings), False))

    def _enter(self, tag: "Tag") -> bool:
        """Begin an element; whether what is in it is still to be read."""
        if tag.name == "br":
            self._end_line()
        elif tag.name == "pre":
            self._end_block()
            self._add(tag.get_text().strip("\n").rstrip(), is_code=True)
            return False
        elif tag.name in _ROWS and not tag.find(_IN_LAYOUT[tag.name]):
            self._end_block()
            self._add("\n".join(_rows(tag)), is_code=True)
            return False
        elif tag.name in _BLOCKS:
            self._end_block()
        return True

    def _leave(self, name: str) -> None:
        if name in _BLOCKS:
            self._end_block(is_heading=name in _HEADINGS)

    def _end_line(self) -> None:
        if line := " ".join("".join(self._line).split()):
            self._lines.append(line)
        self._line = []

    def _end_block(self, *, is_heading: bool = False) -> None:
        self._end_line()
        text = "\n".join(self._lines)
        self._lines = []
        if is_heading and text:
            self._headings.append(text)
        else:
            self._add(text, is_code=False)

    def _add(self, text: str, *, is_code: bool) -> None:
        if text.strip():
            self.blocks.append(("\n".join([*self._headings, text]), is_code))
            self._headings = []


def _rows(tag: "Tag") -> Iterator[str]:
    """The rows of a table, with a bar between two cells, or the items of a list."""
    if tag.name == "table":
        if caption := tag.find("caption"):
            yield _text(caption)
        for row in tag("tr"):
            yield " | ".join(_text(cell) for cell in row(["th", "td"]))
    else:
        for number, item in enumerate(tag("li"), 1):
            yield f"{number}. {_text(item)}" if tag.name == "ol" else f"- {_text(item)}"


def _text(tag: "Tag") -> str:
    """What stands in an element, on one line."""
    return " ".join(tag.get_text(" " if tag.find(list(_BLOCKS | {"br"})) else "").split())
