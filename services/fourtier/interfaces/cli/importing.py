"""`fourtier import`: hand past dialogue to memory, line by line."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.options import DEFAULT_FLOW, FlowName
from fourtier.interfaces.cli.output import console, errors, print_text, visible

if TYPE_CHECKING:
    from fourtier.operations.importing import ImportResult


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "import",
        epilog="Example: fourtier import dialogue.jsonl, with lines such as "
        '{"conversation_id": "c1", "user": "ann", "speaker": "Ann", '
        '"timestamp": "2026-03-01T10:00:00+00:00", "content": "I live in Oslo."}',
    )(import_dialogue)


def import_dialogue(
    file: Annotated[
        typer.FileBinaryRead, typer.Argument(help="JSON lines in UTF-8; - for standard input.")
    ],
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Import past dialogue. Importing a file again doubles nothing.

    The exit code is 1 when a line could not be imported; the others are.
    """
    from rich.progress import Progress

    from fourtier.operations.importing import import_turns

    with Progress(console=console) as progress:
        task = progress.add_task("Importing", total=_count_lines(file))

        def show(now: "ImportResult") -> None:
            progress.update(task, completed=now.sent + now.bad)

        result = with_client(flow, lambda client: import_turns(client, file, show))
    print_text(f"{result.sent} messages imported, {result.bad} bad lines.")
    for line in result.reported:
        errors.print(visible(f"line {line.number}: {line.reason}"), markup=False)
    if result.bad > len(result.reported):
        errors.print(f"and {result.bad - len(result.reported)} more")
    if result.bad:
        raise typer.Exit(1)


def _count_lines(file: BinaryIO) -> int | None:
    """How many lines there are, where that can be known beforehand."""
    name = getattr(file, "name", "")
    if not isinstance(name, str) or not Path(name).is_file():
        return None
    with Path(name).open("rb") as again:
        return sum(1 for line in again if line.strip())
