"""`fourtier flow check` and `topics`."""

from dataclasses import asdict

import typer

from fourtier.interfaces.cli.options import AsJson, FlowArgument
from fourtier.interfaces.cli.output import print_json, print_table, print_text, print_warning

flow = typer.Typer(help="Flow files.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(flow, name="flow")
    app.command(epilog="Example: fourtier topics --json")(topics)


@flow.command("check", epilog="Example: fourtier flow check my-flow.yaml")
def check(file: FlowArgument) -> None:
    """Say whether a flow can be used, and if not, which key is wrong."""
    from fourtier.flows.model import read_flow
    from fourtier.operations.flow_check import check_flow

    read = read_flow(file)
    for warning in check_flow(read):
        print_warning(warning, label="warning:")
    print_text(
        f"{file} is fine: flow {read.name}, {len(read.services)} services, "
        f"bus {read.bus.url}, graph {read.engines.graph}, vectors {read.engines.vectors}."
    )


def topics(as_json: AsJson = False) -> None:
    """Show which installed service handles which message on which topic.

    The service's replicas share the subscription of its name. What is persistent is stored by the
    broker until it is acknowledged.
    """
    from fourtier.operations.topics import list_topics
    from fourtier.runtime.service.registry import service_names

    rows = list_topics(service_names())
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    print_table(
        ("topic", "subscription", "persistent", "message → answer"),
        [
            (
                row.topic,
                row.subscription,
                "yes" if row.persistent else "no",
                f"{row.message} → {row.answer}" if row.answer else row.message,
            )
            for row in rows
        ],
        whole=("topic",),
    )
