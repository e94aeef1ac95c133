"""`fourtier import`: hand past dialogue, line by line, and documents to memory."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    Collection,
    FlowName,
    User,
)
from fourtier.interfaces.cli.output import counted, print_note, print_text, progress_bar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fourtier.client.archive import ImportedDocument
    from fourtier.operations.importing import ImportResult
    from fourtier.runtime.privacy.policy import PrivacyPolicy
    from fourtier.schema.message import Scope

_STDIN, _DIALOGUE = "-", ".jsonl"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "import",
        epilog="Example: fourtier import handbook.pdf notes.md, or fourtier import dialogue.jsonl, "
        'with lines such as {"conversation_id": "c1", "user": "ann", "speaker": "Ann", '
        '"timestamp": "2026-03-01T10:00:00+00:00", "content": "I live in Oslo."}',
    )(import_files)


def import_files(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Documents: .txt, .md, .html, .htm, .pdf. Past dialogue: .jsonl, JSON lines in "
            "UTF-8; - for standard input.",
            show_default=False,
        ),
    ],
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Import documents and past dialogue. Importing a file again doubles nothing.

    A document belongs to --user and --collection, and has the absolute path of its file as its
    name; one that has changed is brought up to date. A line of dialogue that names no `user` is
    theirs too.

    The exit code is 1 when a file, a page or a line could not be imported; the others are.
    """
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    done = {name: _import(flow, scope, name, say_which=len(files) > 1) for name in files}
    if not all(done.values()):
        raise typer.Exit(1)


def _is_dialogue(name: str) -> bool:
    return name == _STDIN or Path(name).suffix.lower() == _DIALOGUE


def _import(flow: str, scope: "Scope", name: str, *, say_which: bool) -> bool:
    """Import a file; whether all of it could be."""
    if _is_dialogue(name):
        return _import_dialogue(flow, scope, name, say_which=say_which)
    return _import_document(flow, scope, Path(name))


def _import_document(flow: str, scope: "Scope", path: Path) -> bool:
    """Import a document and say what became of it; whether all of it is stored."""
    from fourtier.client import CallFailedError, InvalidRequestError
    from fourtier.operations.documents.errors import UnreadableDocumentError
    from fourtier.operations.documents.reading import read_document
    from fourtier.runtime.extras import MissingExtraError

    try:
        document = read_document(path)
        with progress_bar(f"Importing {path.name}") as show:
            done = with_client(
                flow,
                lambda client: client.archive.import_document(
                    scope,
                    document.name,
                    document.blocks,
                    timestamp=document.changed_at,
                    progress=lambda now: show(now.done, now.total),
                ),
            )
    except (
        UnreadableDocumentError,
        MissingExtraError,
        CallFailedError,
        InvalidRequestError,
    ) as error:
        print_note(f"{path}: {error}")
        return False
    print_text(f"{path.as_posix()}: {_summary(done)}")
    _print_redacted(f"{path.as_posix()}: ", done.redacted)
    for each in document.left_out:
        print_note(f"{path.as_posix()}: {each}")
    return not document.left_out


def _print_redacted(of_file: str, counts: "Mapping[str, int]") -> None:
    """Say what memory does not have of what was imported."""
    if counts:
        kinds = ", ".join(f"{kind} ({number})" for kind, number in sorted(counts.items()))
        print_text(f"{of_file}taken out, and not stored: {kinds}")


def _summary(done: "ImportedDocument") -> str:
    stored = counted(done.stored, "block")
    if done.replaced:
        stored += f" stored ({done.replaced} of them in place of an earlier one)"
    else:
        stored += " stored"
    summary = f"{stored}, {done.unchanged} unchanged, {done.deleted} deleted"
    if done.not_stored:
        summary += f", {done.not_stored} not stored (forgotten, expired or opted out)"
    return f"{summary}."


def _import_dialogue(flow: str, scope: "Scope", name: str, *, say_which: bool) -> bool:
    """Import past dialogue and name its bad lines; whether there are none."""
    of_file = f"{name}: " if say_which else ""
    try:
        with _opened(name) as file:
            result = _send(flow, scope, file, _count_lines(name))
    except OSError as error:
        print_note(f"{name}: cannot be opened: {error.strerror}")
        return False
    print_text(
        f"{of_file}{counted(result.sent, 'message')} imported, {counted(result.bad, 'bad line')}."
    )
    _print_redacted(of_file, result.redacted)
    for line in result.reported:
        print_note(f"{of_file}line {line.number}: {line.reason}")
    if result.bad > len(result.reported):
        print_note(f"and {result.bad - len(result.reported)} more")
    return not result.bad


def _send(flow: str, scope: "Scope", file: BinaryIO, lines: int | None) -> "ImportResult":
    from fourtier.operations.importing import import_turns

    policy = _policy(flow)
    with progress_bar("Importing") as show:
        return with_client(
            flow,
            lambda client: import_turns(
                client,
                file,
                lambda now: show(now.sent + now.bad, lines),
                scope=scope,
                policy=policy,
            ),
        )


def _policy(flow: str) -> "PrivacyPolicy | None":
    """The flow's policy; None where what finds personal data is not installed."""
    from importlib.util import find_spec

    from fourtier.flows.model import read_flow

    installed = all(map(find_spec, ("idnumbers", "phonenumbers")))
    return read_flow(flow).privacy if installed else None


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == _STDIN else Path(name).open("rb")


def _count_lines(name: str) -> int | None:
    """How many lines there are, where that can be known beforehand."""
    if not Path(name).is_file():
        return None
    with Path(name).open("rb") as again:
        return sum(1 for line in again if line.strip())
