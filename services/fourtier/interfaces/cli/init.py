"""`fourtier init`: make what a flow needs of its servers, as far as it is not there."""

import asyncio
from dataclasses import asdict

import typer

from fourtier.interfaces.cli.options import AsJson, DryRun, FlowArgument
from fourtier.interfaces.cli.output import print_json, print_table, print_text


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: fourtier init cluster --dry-run")(init)


def init(
    flow: FlowArgument,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Prepare Pulsar, Neo4j and Qdrant for a flow. May be repeated: what is there stays."""
    from fourtier.flows.model import read_flow
    from fourtier.operations.provisioning import provision
    from fourtier.runtime.settings import read_settings

    done = asyncio.run(provision(read_flow(flow), read_settings(), dry_run=dry_run))
    if as_json:
        print_json([asdict(each) for each in done])
        return
    print_table(
        ("engine", "what", "state", "note"),
        [(each.engine, each.what, each.state, each.note) for each in done],
        whole=("engine",),
        styles={number: "dim" for number, each in enumerate(done) if each.unchanged},
    )
    states = [each.state for each in done]
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    print_text(", ".join(f"{number} {state}" for state, number in counts.items()) + ".")
