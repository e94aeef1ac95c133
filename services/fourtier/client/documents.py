"""A text in blocks, as the archive stores documents."""

import re
from collections.abc import Iterator, Sequence

#: Bytes of a block in UTF-8: what fits on a page of a document, 512 tokens of about four bytes.
MAX_BLOCK_BYTES = 2_048

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
#: Where a text is best cut: behind a sentence, else behind a line, else behind a word.
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")  # noqa: RUF001 - Chinese marks
_LINE = re.compile(r"\n+")
_WORD = re.compile(r"\s+")


def blocks_of(text: str) -> Iterator[str]:
    """The paragraphs of a text, by blank lines and page breaks; long ones are cut at sentences."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    for paragraph in _BLANK_LINES.split(lines):
        if paragraph.strip():
            yield from bounded(paragraph.strip("\n").rstrip())


def bounded(paragraph: str, *, code: bool = False) -> Iterator[str]:
    """A paragraph in parts that fit on a page, each as long as it can be.

    Args:
        paragraph: that may be too long.
        code: cut it at its lines, which keep their indentation.
    """
    cuts, between = ((_LINE, _WORD), _LINE) if code else ((_SENTENCE, _LINE, _WORD), _WORD)
    start = 0
    while start + (fitting := _fitting(paragraph, start)) < len(paragraph):
        cut = start + _last_cut(paragraph[start : start + fitting], cuts)
        if part := paragraph[start:cut].rstrip():
            yield part
        found = between.match(paragraph, cut)
        start = found.end() if found else cut
    if rest := paragraph[start:].rstrip():
        yield rest


def _fitting(text: str, start: int) -> int:
    """How many characters of a text are on a page that begins there."""
    some = text[start : start + MAX_BLOCK_BYTES].encode("utf-8", "replace")
    return len(some[:MAX_BLOCK_BYTES].decode("utf-8", "ignore"))


def _last_cut(text: str, cuts: Sequence[re.Pattern[str]]) -> int:
    """Where a text is best cut that goes on behind its end."""
    for places in ([found.end() for found in cut.finditer(text)] for cut in cuts):
        if places and text[: places[-1]].strip():
            return places[-1]
    return len(text)
