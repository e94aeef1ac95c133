"""Plain text: paragraphs that blank lines part."""

from collections.abc import Iterator

from fourtier.client.documents import blocks_of
from fourtier.operations.documents.errors import UnreadableDocumentError


def decoded(content: bytes) -> str:
    """The text of a file, without the mark that some editors put at its beginning.

    Raises:
        UnreadableDocumentError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError(
            f"is not UTF-8 text (byte {error.start:,}): save it as UTF-8"
        ) from error


def read_plain_text(content: bytes) -> Iterator[str]:
    """The paragraphs of a text.

    Raises:
        UnreadableDocumentError: it is not UTF-8.
    """
    yield from blocks_of(decoded(content))
