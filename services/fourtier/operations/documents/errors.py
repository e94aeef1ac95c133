"""Why a document cannot be imported."""

from fourtier.runtime.errors import FourtierError


class UnreadableDocumentError(FourtierError):
    """A file has no text that can be read; the message says why, and what helps."""

    type = "unreadable-document"
