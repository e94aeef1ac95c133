"""`fourtier up`, `serve`, `flow check` and `topics`."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from fourtier.flows.model import read_flow
from fourtier.flows.plan import parameters_of
from fourtier.interfaces.cli.scope import AsJson
from fourtier.interfaces.cli.up import serve, up
from fourtier.schema.catalogue import all_declared, topic_of
from fourtier.schema.topics import Call

console = Console()
flow = typer.Typer(help="Flow files.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: fourtier up            (then, elsewhere: fourtier chat)")(up)
    app.command(epilog="Example: fourtier serve cluster facts episodes")(serve)
    app.add_typer(flow, name="flow")
    app.command(epilog="Example: fourtier topics --json")(topics)


@flow.command("check", epilog="Example: fourtier flow check my-flow.yaml")
def check(
    file: Annotated[str, typer.Argument(help="A flow file or a shipped flow's name.")],
) -> None:
    """Say whether a flow can be used, and if not, which key is wrong."""
    read = read_flow(file)
    for service in read.services:
        parameters_of(read, service)
    console.print(
        f"{file} is fine: flow {read.name}, {len(read.services)} services, "
        f"bus {read.bus.url}, graph {read.engines.graph}, vectors {read.engines.vectors}.",
        highlight=False,
    )


def topics(as_json: AsJson = False) -> None:
    """Show which service handles which message on which topic."""
    rows = [
        {
            "service": ", ".join(topic_of(declared).handled_by),
            "topic": topic_of(declared).name,
            "kind": _kind(declared),
            "message": topic_of(declared).payload.__name__,
            "answer": declared.answer.__name__ if isinstance(declared, Call) else "",
            "kept": "yes" if topic_of(declared).persistent else "no",
        }
        for declared in all_declared()
    ]
    rows.sort(key=lambda row: (row["service"], row["topic"]))
    if as_json:
        console.print_json(data=rows)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("service", "topic", "kept"):
        table.add_column(column, no_wrap=column == "topic")
    table.add_column("message, and its answer", overflow="fold")
    for row in rows:
        message = f"{row['message']} → {row['answer']}" if row["answer"] else row["message"]
        table.add_row(row["service"], row["topic"], row["kept"], message)
    console.print(table)


def _kind(declared: object) -> str:
    if not isinstance(declared, Call):
        return "event"
    return "stream" if declared.last else "call"
