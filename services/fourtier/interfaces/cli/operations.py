"""`fourtier dead-letters ...` and `fourtier doctor`: is everything well, and what to do if not."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fourtier.flows.model import DEFAULT_FLOW, read_flow
from fourtier.interfaces.cli.scope import AsJson, FlowName
from fourtier.operations.connection import open_flow_bus
from fourtier.operations.dead_letters import (
    DeadLetter,
    list_dead_letters,
    replay_dead_letters,
)
from fourtier.operations.doctor.diagnosis import diagnose
from fourtier.operations.doctor.findings import Finding

dead_letters = typer.Typer(help="Messages that could not be handled.", no_args_is_help=True)
Service = Annotated[str, typer.Option("--service", "-s", help="Only this service's.")]
console = Console()


def add_to(app: typer.Typer) -> None:
    """Add the commands that are not in a group."""
    app.command(epilog="Example: fourtier doctor --flow cluster")(doctor)


def _services(flow: str, service: str) -> list[str]:
    services = list(read_flow(flow).services)
    if service and service not in services:
        raise typer.BadParameter(f"the flow has no service {service!r}: {', '.join(services)}")
    return [service] if service else services


@dead_letters.command("list", epilog="Example: fourtier dead-letters list --service facts")
def list_letters(
    flow: FlowName = DEFAULT_FLOW, service: Service = "", as_json: AsJson = False
) -> None:
    """Show what could not be handled, and why. Nothing is removed."""
    services = _services(flow, service)

    async def run() -> list[DeadLetter]:
        async with open_flow_bus(flow) as bus:
            return [letter for name in services for letter in await list_dead_letters(bus, name)]

    letters = asyncio.run(run())
    if as_json:
        console.print_json(data=[_as_json(letter) for letter in letters])
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("service", "topic", "at", "attempts", "why", "message"):
        table.add_column(column, overflow="fold")
    for letter in letters:
        table.add_row(
            letter.service,
            letter.topic,
            f"{letter.at.astimezone():%Y-%m-%d %H:%M:%S}",
            str(letter.attempts),
            escape(letter.error),
            escape(letter.payload[:200].decode(errors="replace")),
        )
    console.print(table if letters else "There are no dead letters.")


@dead_letters.command("replay", epilog="Example: fourtier dead-letters replay --service facts")
def replay_letters(flow: FlowName = DEFAULT_FLOW, service: Service = "") -> None:
    """Send what could not be handled again, once its cause is mended. Nothing is doubled by it."""
    services = _services(flow, service)

    async def run() -> dict[str, int]:
        async with open_flow_bus(flow) as bus:
            return {name: await replay_dead_letters(bus, name) for name in services}

    for name, number in asyncio.run(run()).items():
        if number:
            console.print(f"{name}: {number} sent again", highlight=False)
    console.print("Done.")


def _as_json(letter: DeadLetter) -> dict[str, object]:
    return {
        "id": letter.id,
        "service": letter.service,
        "topic": letter.topic,
        "at": letter.at.isoformat(),
        "attempts": letter.attempts,
        "error": letter.error,
        "payload": letter.payload.decode(errors="replace"),
    }


def doctor(
    flow: FlowName = DEFAULT_FLOW,
    old_after: Annotated[
        float,
        typer.Option(
            min=1, help="Seconds that a message may go unacknowledged before it is a problem."
        ),
    ] = 300,
    as_json: AsJson = False,
) -> None:
    """Check a running flow: what is well, and what to do about each problem.

    [bold]bus, graph, vectors[/]: reached from here, and of which version.
    [bold]services[/]: each answers, its version and replicas, what its stores have.
    [bold]models[/]: the embedding model embeds, the language model speaks.
    [bold]queues[/]: what waits on each topic, and for how long; Pulsar's admin API tells it.
    [bold]dead letters[/]: what could not be handled.

    It changes nothing, and prints no secret. The exit code is 1 when something is wrong.
    """
    findings = asyncio.run(diagnose(flow, old_after))
    if as_json:
        console.print_json(data=[finding.model_dump() for finding in findings])
    else:
        console.print(_findings(findings))
    if any(not finding.well for finding in findings):
        raise typer.Exit(1)


def _findings(findings: list[Finding]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("", "what", "found", "what to do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        mark = "[green]ok[/]" if finding.well else "[red]no[/]"
        table.add_row(mark, finding.what, escape(finding.found), escape(finding.remedy))
    return table
