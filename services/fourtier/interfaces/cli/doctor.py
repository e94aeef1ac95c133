"""`fourtier doctor`: is everything well in a flow, and what to do about the rest."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.options import DEFAULT_FLOW, AsJson, FlowName
from fourtier.interfaces.cli.output import console, print_json, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourtier.operations.doctor.findings import Finding


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: fourtier doctor --flow cluster")(doctor)


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
    [bold]models[/]: the embedding model embeds, the language model speaks, and
    writes the JSON by which it learns.
    [bold]queues[/]: what waits on each topic, and for how long, by Pulsar's admin API.
    [bold]dead letters[/]: what could not be handled.

    It changes nothing, and prints no secret. The exit code is 1 when something is wrong.
    """
    from fourtier.operations.doctor.diagnosis import diagnose

    findings = asyncio.run(diagnose(flow, old_after))
    if as_json:
        print_json([finding.model_dump() for finding in findings])
    else:
        _show(findings)
    if any(not finding.well for finding in findings):
        raise typer.Exit(1)


def _show(findings: "Sequence[Finding]") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("", "what", "found", "what to do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        mark = Text("ok", style="green") if finding.well else Text("no", style="red")
        cells = (finding.what, finding.found, finding.remedy)
        table.add_row(mark, *(Text(visible(cell)) for cell in cells))
    console.print(table)
