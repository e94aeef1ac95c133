"""Markdown: the text as it is, in paragraphs; a code block stays whole, a heading gets company."""

import re
from collections.abc import Iterator

from fourtier.client.documents import bounded
from fourtier.operations.documents.plain_text import decoded

_FENCE = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)*(?P<fence>`{3,}|~{3,})(?P<rest>.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
#: A heading with its underline.
_TWO_LINES = 2


def read_markdown(content: bytes) -> Iterator[str]:
    """The blocks of a text in Markdown.

    Raises:
        UnreadableDocumentError: it is not UTF-8.
    """
    headings: list[str] = []
    for paragraph in _paragraphs(decoded(content)):
        if _is_heading(paragraph):
            headings.append(paragraph)
            continue
        block = "\n\n".join([*headings, paragraph])
        headings = []
        yield from bounded(block, code=_has_code(paragraph))
    if headings:
        yield from bounded("\n\n".join(headings))


def _paragraphs(text: str) -> Iterator[str]:
    """What blank lines part, but for those in code."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        fence = _fence_behind(line, fence)
        if line.strip() or fence:
            lines.append(line.rstrip())
        elif lines:
            yield "\n".join(lines)
            lines = []
    if any(lines):
        yield "\n".join(lines)


def _fence_behind(line: str, fence: str) -> str:
    """What the code ends with in which one is behind a line; empty where that is none."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        inline = found["fence"][0] == "`" and "`" in found["rest"]
        return "" if inline else found["fence"]
    ends = found["fence"].startswith(fence) and not found["rest"].strip()
    return "" if ends else fence


def _is_heading(paragraph: str) -> bool:
    lines = paragraph.splitlines()
    if len(lines) == _TWO_LINES and _UNDERLINE.match(lines[1]):
        return True
    return all(_HEADING.match(line) for line in lines)


def _has_code(paragraph: str) -> bool:
    return any(_FENCE.match(line) for line in paragraph.splitlines())
