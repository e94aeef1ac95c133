"""`fourtier facts names`: the names that facts mention, and which they mention together."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    ListLimit,
    User,
    optional_name,
)
from fourtier.interfaces.cli.output import print_items, print_total

if TYPE_CHECKING:
    from fourtier.schema.facts import MentionedName


def add_to(facts: typer.Typer) -> None:
    """Add the command."""
    facts.command("names", epilog="Example: fourtier facts names --with Anna")(list_names)


def list_names(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    with_name: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Only names that some fact mentions together with this one.",
            callback=optional_name,
        ),
    ] = None,
    limit: ListLimit = 50,
    as_json: AsJson = False,
) -> None:
    """Show the names that facts mention, the most frequent first."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    listed = with_client(
        flow, lambda client: client.facts.list_names(scope, limit=limit, with_name=with_name or "")
    )
    columns = ("name", "facts")
    print_items(listed.names, columns, _name_cells, as_json=as_json, none="No names found.")
    if listed.total is not None and len(listed.names) < listed.total:
        what = f"names of {user}/{collection}"
        print_total(len(listed.names), listed.total, what, as_json=as_json)


def _name_cells(each: "MentionedName") -> tuple[str, ...]:
    return each.name, str(each.facts)
