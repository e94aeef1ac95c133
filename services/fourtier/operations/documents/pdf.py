"""PDF: the text of each page, as far as the file has text at all."""

import io
import logging
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from fourtier.client.documents import blocks_of
from fourtier.operations.documents.errors import UnreadableDocumentError
from fourtier.runtime.extras import extra_needed

if TYPE_CHECKING:
    from pypdf import PdfReader

#: A word that is parted at the end of a line.
_HYPHEN = re.compile(r"(?<=[^\W\d_])-[^\S\n]*\n(?=[a-zß-ÿ])")


def read_pdf(content: bytes, left_out: list[str] | None = None) -> Iterator[str]:
    """The blocks of a PDF, page by page.

    Args:
        content: of the file.
        left_out: gets a line on the pages that have no text, if there are some.

    Raises:
        MissingExtraError: pypdf is not installed.
        UnreadableDocumentError: the file is broken, has a password, or has pictures of text.
    """
    pages = _pages(content)
    if not any(page.strip() for page in pages):
        raise UnreadableDocumentError(
            "has no text, only pictures of it, as a scan has: make text of them first (OCR)"
        )
    if left_out is not None:
        left_out += _without_text(pages)
    for page in pages:
        yield from blocks_of(_HYPHEN.sub("", page))


def _without_text(pages: Sequence[str]) -> Iterator[str]:
    """Which pages have no text, in words; nothing where all have some."""
    numbers = [number for number, page in enumerate(pages, 1) if not page.strip()]
    if not numbers:
        return
    together = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    runs = [_run([number for _, number in each]) for _, each in together]
    *first, last = [each for run in runs for each in run]
    named = f"{', '.join(first)} and {last}" if first else last
    one = len(numbers) == 1
    yield (
        f"{'page' if one else 'pages'} {named} {'has' if one else 'have'} no text: scanned? "
        f"Make text of {'it' if one else 'them'} first (OCR)"
    )


def _run(numbers: Sequence[int]) -> list[str]:
    """Consecutive numbers, in short where there are three or more."""
    many = len(numbers) > 2  # noqa: PLR2004 - two are as short
    return [f"{numbers[0]} to {numbers[-1]}"] if many else [*map(str, numbers)]


def _pages(content: bytes) -> list[str]:
    with extra_needed("documents"):
        from pypdf import PdfReader  # noqa: PLC0415 - of an extra
    # Of the faults that it reads over; what it cannot read it raises.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        _open(reader)
        return [page.extract_text() for page in reader.pages]
    except UnreadableDocumentError:
        raise
    except Exception as error:  # a broken file can raise anything
        reason = str(error) or type(error).__name__
        raise UnreadableDocumentError(f"cannot be read as a PDF: {reason}") from error


def _open(reader: "PdfReader") -> None:
    """Open a file that anybody may read.

    Raises:
        UnreadableDocumentError: it needs a password.
    """
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocumentError("is protected by a password: save it without one")
