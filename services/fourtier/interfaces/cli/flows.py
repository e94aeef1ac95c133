"""`fourtier up`, `serve`, `flow check` and `topics`."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fourtier.flows.model import read_flow
from fourtier.flows.plan import parameters_of
from fourtier.interfaces.cli.scope import AsJson
from fourtier.interfaces.cli.up import serve, up
from fourtier.runtime.service.declaration import Handler
from fourtier.runtime.service.registry import declared_handlers, service_names
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
    rows = [_row(service, handler) for service, handler in declared_handlers(service_names())]
    rows.sort(key=lambda row: (row["service"], row["topic"]))
    if as_json:
        console.print_json(data=rows)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("service", "topic", "persistent"):
        table.add_column(column, no_wrap=column == "topic")
    table.add_column("message, and its answer", overflow="fold")
    for row in rows:
        message = f"{row['message']} → {row['answer']}" if row["answer"] else row["message"]
        table.add_row(row["service"], row["topic"], row["persistent"], message)
    console.print(table)


def _row(service: str, handler: Handler) -> dict[str, str]:
    topic, call = handler.topic, handler.call
    return {
        "service": service,
        "topic": topic.name,
        "kind": _kind(call),
        "message": topic.payload.__name__,
        "answer": call.answer.__name__ if call else "",
        "persistent": "yes" if topic.persistent else "no",
    }


def _kind(call: Call[Any, Any] | None) -> str:
    if call is None:
        return "event"
    return "stream" if call.last else "call"
