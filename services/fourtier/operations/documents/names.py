"""What documents are called: by the absolute paths of their files, and as people type them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from fourtier.client import Client
from fourtier.runtime.errors import FourtierError
from fourtier.schema.message import MAX_OFFSET, Scope


class AmbiguousDocumentError(FourtierError):
    """Several documents have the name that was typed; the message has the whole name of each."""

    type = "invalid-request"


def document_name(file: Path) -> str:
    """The name of a file's document: its absolute path, however the file was named."""
    return (file.parent.resolve() / file.name).as_posix()


def find_document(typed: str, known: Sequence[str]) -> str | None:
    """The document that somebody means: by its name, by the path of its file, or by its end.

    Raises:
        AmbiguousDocumentError: several documents end so.
    """
    for name in (typed, document_name(Path(typed))):
        if name in known:
            return name
    found = [name for name in known if _ends_with(name, typed)]
    if len(found) > 1:
        candidates = "\n".join(f"  {name}" for name in found)
        raise AmbiguousDocumentError(
            f"{typed} is the name of {len(found)} documents, type more of it:\n{candidates}"
        )
    return found[0] if found else None


def short_names(documents: Iterable[str], known: Sequence[str]) -> Mapping[str, str]:
    """For some documents the shortest end of their path that no other known one has."""
    return {name: _short(name, known) for name in {*documents} & {*known}}


async def known_documents(client: Client, scope: Scope) -> tuple[str, ...]:
    """The names of a scope's documents.

    Raises:
        CallFailedError: the archive answers with an error.
        DeadlineExceededError: the archive does not answer.
        BusError: the broker does not take the request.
    """
    return (await client.archive.documents(scope, limit=MAX_OFFSET)).documents


def _short(name: str, known: Sequence[str]) -> str:
    parts = PurePosixPath(name).parts
    for number in range(1, len(parts)):
        end = "/".join(parts[-number:])
        if sum(_ends_with(other, end) for other in known) == 1:
            return end
    return name


def _ends_with(name: str, end: str) -> bool:
    """Whether the last parts of a path are these."""
    parts, wanted = PurePosixPath(name).parts, PurePosixPath(end).parts
    return bool(wanted) and parts[-len(wanted) :] == wanted
