"""`fourtier facts reindex`: make the index of all facts from the graph, and show how far it is."""

import asyncio
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.progress import Progress

from fourtier.client import Client
from fourtier.flows.model import DEFAULT_FLOW
from fourtier.interfaces.cli.scope import FlowName
from fourtier.operations.connection import open_client
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import DeadlineExceededError
from fourtier.runtime.rpc.retry import Retry
from fourtier.schema.facts import ReindexFactsResponse

#: A service that is started again meanwhile is asked for the same part once more.
_AGAIN = Retry(attempts=3, first=1.0)

console = Console()


@dataclass(slots=True)
class _Done:
    """What all parts did together; `left` is how many more points than facts there are now."""

    indexed: int = 0
    removed: int = 0
    left: int = 0

    def add(self, part: ReindexFactsResponse) -> None:
        self.indexed += part.indexed
        self.removed += part.removed
        self.left = part.points - part.facts


def add_to(facts: typer.Typer) -> None:
    """Add the command to those of the facts."""
    facts.command("reindex", epilog="Example: fourtier facts reindex --flow cluster")(reindex)


def reindex(flow: FlowName = DEFAULT_FLOW) -> None:
    """Make the index of all facts of all users from the graph, with the model that embeds now.

    For a graph that was restored without its vectors, and for another embedding model. The flow
    runs meanwhile; what is not indexed yet is not found. Again changes nothing.
    """
    done = asyncio.run(_reindex(flow))
    console.print(f"{done.indexed} facts indexed.", highlight=False)
    if done.removed:
        console.print(f"{done.removed} entries of no fact removed.", highlight=False)
    if done.left > 0:
        console.print(
            f"{done.left} entries are of users of whom the graph has no fact. They are never "
            f"found; to be rid of them begin with empty vectors.",
            highlight=False,
        )


async def _reindex(flow: str) -> _Done:
    done = _Done()
    async with open_client(flow) as client:
        with Progress(console=console) as progress:
            task = progress.add_task("Indexing", total=None)
            cursor, first = "", True
            while cursor or first:
                part = await _part(client, cursor)
                done.add(part)
                progress.update(task, total=part.facts, completed=done.indexed)
                cursor, first = part.cursor, False
    return done


async def _part(client: Client, cursor: str) -> ReindexFactsResponse:
    """Ask for a part, again where no answer came: a part done twice changes nothing."""
    attempt = 1
    while True:
        try:
            return await client.facts.reindex(cursor)
        except (DeadlineExceededError, BusError) as error:
            pause = _AGAIN.pause(attempt, error)
            if pause is None:
                raise
            await asyncio.sleep(pause)
            attempt += 1
