"""Sources of the archive, as they are typed and as they are shown."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fourtier.schema.archive import ArchiveEntry, ArchiveMemo, ArchivePage

if TYPE_CHECKING:
    from fourtier.client import Client
    from fourtier.schema.message import Scope

E = TypeVar("E", ArchiveEntry, ArchiveMemo, ArchivePage)


async def source_named(client: "Client", scope: "Scope", typed: str) -> str:
    """The name of the document that is meant; without one that of the file, or what was typed.

    Raises:
        AmbiguousDocumentError: several documents have this name.
    """
    from fourtier.operations.documents.names import document_name, find_document, known_documents

    if not typed:
        return typed
    found = find_document(typed, await known_documents(client, scope))
    if found is not None:
        return found
    file = Path(typed)
    return document_name(file) if _is_file(file) else typed


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):  # too long for a path, or with what no path has
        return False


async def with_short_names(client: "Client", scope: "Scope", found: Iterable[E]) -> list[E]:
    """What was found, with the documents in it named as shortly as they can be told apart."""
    from fourtier.operations.documents.names import known_documents, short_names

    listed = list(found)
    paths = {each.source for each in listed if each.source_kind == "document"}
    paths = {path for path in paths if "/" in path}
    names = short_names(paths, await known_documents(client, scope)) if paths else {}
    return [_renamed(each, names) for each in listed]


def _renamed(found: E, names: Mapping[str, str]) -> E:
    short = names.get(found.source)
    if short is None or found.source_kind != "document":
        return found
    said_by: dict[str, str] = {"speaker": short} if isinstance(found, ArchiveEntry) else {}
    return found.model_copy(update={"source": short} | said_by)
