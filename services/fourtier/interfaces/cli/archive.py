"""`fourtier archive ...`: find what was said, and read it where it was said."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.entries import found_by, print_entry
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    Limit,
    ListLimit,
    User,
)
from fourtier.interfaces.cli.output import (
    counted,
    one_line,
    print_error,
    print_items,
    print_json,
    print_text,
    print_total,
    print_warning,
    progress_bar,
)

if TYPE_CHECKING:
    from fourtier.schema.archive import ArchiveMemo, ArchivePage

archive = typer.Typer(
    help="What was said and read, word for word.",
    no_args_is_help=True,
)


@archive.command("search", epilog='Example: fourtier archive search "budget for the trip"')
def search(
    query: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 5,
    speaker: Annotated[str, typer.Option(help="Only what this one said.")] = "",
    source: Annotated[str, typer.Option(help="Only of this conversation or document.")] = "",
    why: Annotated[bool, typer.Option("--why", help="Say what each was found by.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search what was said by words and by meaning, best first."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    found = with_client(
        flow,
        lambda client: client.archive.search(
            scope, query, top_k=limit, speaker=speaker, source=source, explain=why
        ),
    )
    if as_json:
        print_json([hit.model_dump(mode="json", exclude_none=True) for hit in found.hits])
    elif not found.hits:
        print_text(f"Nothing found in the archive of {user}/{collection}.")
    else:
        for number, hit in enumerate(found.hits, start=1):
            print_entry(number, hit.entry, found_by(hit.legs) if why else "")
    for leg, reason in found.left_out.items():
        print_warning(f"not searched by {leg}: {reason}")


@archive.command(
    "show", epilog="Example: fourtier archive show 4fa171d9-03a8-5198-9c2b-a08930b4330f"
)
def show(
    identity: Annotated[str, typer.Argument(metavar="PAGE_OR_ENTRY", help="Its id.")],
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
) -> None:
    """Show a page, or the page that an entry is on."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    read = with_client(flow, lambda client: client.archive.page(scope, identity))
    if read.page is None:
        read = with_client(flow, lambda client: client.archive.page_of(scope, identity))
    if read.page is None:
        print_error(f"{user}/{collection} has no page or entry {identity}")
        raise typer.Exit(1)
    if as_json:
        print_json([entry.model_dump(mode="json", exclude_none=True) for entry in read.entries])
        return
    print_text(_heading(read.page))
    if read.page.memo:
        print_text(f"   {_memo(read.page.memo)}", style="dim")
    for number, entry in enumerate(read.entries, start=1):
        print_entry(number, entry)


@archive.command("list", epilog="Example: fourtier archive list --user ann")
def list_pages(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    as_json: AsJson = False,
) -> None:
    """Show pages, those that were last added to first."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    listed = with_client(flow, lambda client: client.archive.list(scope, limit=limit))
    print_items(
        listed.pages,
        ["id", "page", "memo"],
        lambda page: [page.id, _heading(page), page.memo.content if page.memo else ""],
        as_json=as_json,
        none=f"The archive of {user}/{collection} is empty.",
    )
    if listed.pages:
        what = f"pages of {user}/{collection}"
        print_total(len(listed.pages), listed.total, what, as_json=as_json)


@archive.command("memos", epilog='Example: fourtier archive memos --user ann --query "the boat"')
def list_memos(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    query: Annotated[str, typer.Option(help="Those that are most similar to it.")] = "",
    source: Annotated[str, typer.Option(help="Only of this conversation or document.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show what closed pages are about, those of what was said last first."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    listed = with_client(
        flow, lambda client: client.archive.memos(scope, query, source=source, limit=limit)
    )
    print_items(
        listed.memos,
        ["page", "of", "memo"],
        lambda memo: [
            memo.page_id,
            f"{memo.source_kind} {memo.source}, page {memo.page_number}",
            _memo(memo),
        ],
        as_json=as_json,
        none=f"{user}/{collection} has no memos.",
    )
    for what, reason in listed.left_out.items():
        print_warning(f"not searched by {what}: {reason}")
    if listed.memos:
        what = f"memos of {user}/{collection}"
        print_total(len(listed.memos), listed.total, what, as_json=as_json)


@archive.command("reindex", epilog="Example: fourtier archive reindex --flow cluster")
def reindex(flow: FlowName = DEFAULT_FLOW) -> None:
    """Write the index of all users from the graph, with the present embedding model.

    For a graph that was restored without its vectors, and for another embedding model. The flow
    runs meanwhile; what is not indexed yet is not found. Repeating it changes nothing.
    """
    from fourtier.operations.reindexing import reindex_archive

    with progress_bar("Indexing") as show_done:
        indexed = with_client(flow, lambda client: reindex_archive(client, show_done))
    print_text(f"{counted(indexed, 'entry', 'entries')} indexed.")


def _heading(page: "ArchivePage") -> str:
    state = "closed" if page.closed else "open"
    return (
        f"{page.source_kind} {page.source}, page {page.number}: "
        f"{counted(page.entries, 'entry', 'entries')}, "
        f"{page.started_at:%Y-%m-%d %H:%M} to {page.ended_at:%Y-%m-%d %H:%M}, {state}"
    )


def _memo(memo: "ArchiveMemo") -> str:
    by = memo.model or "a model" if memo.method == "llm" else "rule"
    return f"{one_line(memo.content)} (by {by})"
