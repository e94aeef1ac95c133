"""`fourtier init`: make what a flow needs of its servers, as far as it is not there."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from fourtier.flows.model import Flow, read_flow
from fourtier.flows.provisioning import provisioners
from fourtier.interfaces.cli.scope import AsJson
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.settings import Settings, read_settings

console = Console()

_DONE = {State.MISSING: "made", State.DIFFERENT: "changed"}
_TO_DO = {State.MISSING: "would be made", State.DIFFERENT: "would be changed"}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: fourtier init cluster --dry-run")(init)


def init(
    flow: Annotated[str, typer.Argument(help="A shipped flow's name or a flow file.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is there and what would be made.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prepare Pulsar, Neo4j and Qdrant for a flow. May be repeated: what is there stays."""
    steps = asyncio.run(_provision(read_flow(flow), read_settings(), dry_run=dry_run))
    rows = [(step, _became(step, dry_run=dry_run)) for step in steps]
    if as_json:
        console.print_json(data=[_as_json(step, became) for step, became in rows])
    else:
        console.print(_table(rows))
        console.print(_summary([became for _, became in rows]), highlight=False)


async def _provision(flow: Flow, settings: Settings, *, dry_run: bool) -> list[Step]:
    """See what is there on all servers, and only then begin to make what is not."""
    async with provisioners(flow, settings) as servers:
        steps = [step for server in servers for step in await server.plan()]
        for step in steps:
            if step.act is not None and not dry_run:
                await step.act()
    return steps


def _became(step: Step, *, dry_run: bool) -> str:
    if step.act is None:
        return step.state.value
    return (_TO_DO if dry_run else _DONE)[step.state]


def _as_json(step: Step, became: str) -> dict[str, str]:
    return {"engine": step.engine, "what": step.what, "state": became, "note": step.note}


def _table(rows: Sequence[tuple[Step, str]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("engine", "what", "state", "note"):
        table.add_column(column, overflow="fold", no_wrap=column == "engine")
    for step, became in rows:
        style = "dim" if step.state is State.THERE else ""
        table.add_row(step.engine, step.what, became, step.note, style=style)
    return table


def _summary(states: Sequence[str]) -> str:
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    return ", ".join(f"{number} {state}" for state, number in counts.items()) + "."
