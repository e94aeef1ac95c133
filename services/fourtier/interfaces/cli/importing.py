"""`fourtier import`: hand past dialogue to memory, line by line."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TextIO

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import Progress

from fourtier.client import Client
from fourtier.flows.model import DEFAULT_FLOW
from fourtier.interfaces.cli.scope import FlowName
from fourtier.operations.connection import open_client
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.validation import in_words
from fourtier.schema.conversations import DialogueTurn

#: Lines under way at once; each is counted when the bus has confirmed it.
_MAX_CONCURRENCY = 64

console = Console()
complaints = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be imported."""

    number: int
    reason: str


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "import",
        epilog="Example: fourtier import dialogue.jsonl, with lines such as "
        '{"conversation_id": "c1", "user": "ann", "speaker": "Ann", '
        '"timestamp": "2026-03-01T10:00:00+00:00", "content": "I live in Oslo."}',
    )(import_dialogue)


def import_dialogue(
    file: Annotated[typer.FileText, typer.Argument(help="JSON lines; - for standard input.")],
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Import past dialogue. Importing a file again doubles nothing."""
    bad = asyncio.run(_import(file, flow))
    for line in bad:
        complaints.print(f"line {line.number}: {line.reason}", markup=False, highlight=False)
    if bad:
        raise typer.Exit(1)


async def _import(file: TextIO, flow: str) -> list[BadLine]:
    """Publish every good line; returns the bad ones."""
    bad: list[BadLine] = []
    sent = 0
    async with open_client(flow) as client:
        total = _count_lines(file)
        slots = asyncio.Semaphore(_MAX_CONCURRENCY)
        with Progress(console=console) as progress:
            task = progress.add_task("Importing", total=total)

            async def send(turn: DialogueTurn) -> None:
                nonlocal sent
                try:
                    await _record(client, turn)
                finally:
                    slots.release()
                sent += 1
                progress.advance(task)

            async with asyncio.TaskGroup() as group:
                for number, line in read_turns(file):
                    if isinstance(line, BadLine):
                        bad.append(line)
                        progress.advance(task)
                        continue
                    await slots.acquire()
                    group.create_task(send(line), name=f"line {number}")
    console.print(f"{sent} messages imported, {len(bad)} bad lines.", highlight=False)
    return bad


async def _record(client: Client, turn: DialogueTurn) -> None:
    """Publish one turn, again after the bus was away for a moment: its id makes it harmless."""
    attempts = 5
    for attempt in range(1, attempts + 1):
        try:
            await client.conversations.record(turn)
        except BusError:
            if attempt == attempts:
                raise
            await asyncio.sleep(2 ** (attempt - 1))
        else:
            return


class _Line(DialogueTurn):
    """A line of the file, which may leave out the turn's id."""

    turn_id: str = ""


def read_turns(file: TextIO) -> Iterator[tuple[int, DialogueTurn | BadLine]]:
    """Each line that is not blank, with its number from 1, as a turn or as what is wrong with it.

    A line without a `turn_id` gets one made from what it says; the same words said again at the
    same moment count as another turn.
    """
    seen: Counter[str] = Counter()
    for number, text in enumerate(file, 1):
        if not text.strip():
            continue
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            yield number, BadLine(number, in_words(error, "line"))
            continue
        if not line.turn_id:
            identity = _identity(line)
            seen[identity] += 1
            line = line.model_copy(update={"turn_id": f"{identity}-{seen[identity]}"})
        yield number, line


def _identity(turn: DialogueTurn) -> str:
    said = (
        f"{turn.scope.key}\n{turn.conversation_id}\n{turn.speaker}\n"
        f"{turn.timestamp.isoformat()}\n{turn.content}"
    )
    return hashlib.sha256(said.encode()).hexdigest()[:24]


def _count_lines(file: TextIO) -> int | None:
    """How many lines there are, where that can be known beforehand."""
    name = getattr(file, "name", "")
    if not isinstance(name, str) or not Path(name).is_file():
        return None
    with Path(name).open("rb") as again:
        return sum(1 for line in again if line.strip())
