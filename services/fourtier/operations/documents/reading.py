"""Which file is read how, and what all of them have in common."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fourtier.operations.documents.errors import UnreadableDocumentError
from fourtier.operations.documents.html_pages import read_html
from fourtier.operations.documents.markdown import read_markdown
from fourtier.operations.documents.names import document_name
from fourtier.operations.documents.pdf import read_pdf
from fourtier.operations.documents.plain_text import read_plain_text
from fourtier.schema.archive import MAX_DOCUMENT
from fourtier.schema.visible import is_blank

READERS: Mapping[str, Callable[[bytes], Iterator[str]]] = {
    ".txt": read_plain_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
}
#: No store and no terminal has a use for them, and lone surrogates are not text.
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """A file as the archive stores it.

    Attributes:
        name: the absolute path of the file; it names the document too.
        changed_at: when the file was last changed: a document that was forgotten does not come back
            before somebody writes it anew.
        left_out: what of the file could not be read, in words.
    """

    name: str
    blocks: Sequence[str]
    changed_at: datetime
    left_out: Sequence[str] = ()


def read_document(path: Path) -> Document:
    """Read a file; what kind of file it is its suffix says.

    Raises:
        UnreadableDocumentError: there is no such file, or no text in it that can be read.
        MissingExtraError: the package that reads such files is not installed.
    """
    content = _content(path)
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise UnreadableDocumentError(
            f"is of a kind that is not known, there are {', '.join(READERS)}"
        )
    left_out: list[str] = []
    read_blocks = read_pdf(content, left_out) if read is read_pdf else read(content)
    blocks = [clean for block in read_blocks if not is_blank(clean := _UNWANTED.sub("", block))]
    if not blocks:
        raise UnreadableDocumentError("is empty")
    if len(blocks) > MAX_DOCUMENT:
        raise UnreadableDocumentError(
            f"is too long: {len(blocks):,} paragraphs, at most {MAX_DOCUMENT:,} are stored"
        )
    changed_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Document(document_name(path), blocks, changed_at, left_out)


def _content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        UnreadableDocumentError: it cannot be opened.
    """
    try:
        return path.read_bytes()
    except IsADirectoryError as error:
        raise UnreadableDocumentError(
            f"is a directory: name its files, as in {path}/*.md"
        ) from error
    except OSError as error:
        raise UnreadableDocumentError(f"cannot be opened: {error.strerror}") from error
