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
from fourtier.interfaces.cli.sources import source_named, with_short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourtier.client import Client
    from fourtier.schema.archive import (
        ArchiveEntry,
        ArchiveMemo,
        ArchivePage,
        GetPageResponse,
        ListMemosResponse,
        ListPagesResponse,
        SearchArchiveResponse,
    )
    from fourtier.schema.message import Scope

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

    async def read(client: "Client") -> "SearchArchiveResponse":
        named = await source_named(client, scope, source)
        found = await client.archive.search(
            scope, query, top_k=limit, speaker=speaker, source=named, explain=why
        )
        if as_json:
            return found
        entries = await with_short_names(client, scope, (hit.entry for hit in found.hits))
        hits = zip(found.hits, entries, strict=True)
        shown = tuple(hit.model_copy(update={"entry": entry}) for hit, entry in hits)
        return found.model_copy(update={"hits": shown})

    found = with_client(flow, read)
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
    identity: Annotated[
        str,
        typer.Argument(metavar="PAGE_OR_ENTRY_OR_DOCUMENT", help="Its id, or a document's name."),
    ],
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
) -> None:
    """Show a page, the page that an entry is on, or all pages of a document."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    pages = with_client(flow, lambda client: _read(client, scope, identity, short=not as_json))
    if not pages:
        print_error(f"{user}/{collection} has no page or entry {identity}, and no such document")
        raise typer.Exit(1)
    if as_json:
        entries = [entry for _, on_page in pages for entry in on_page]
        print_json([entry.model_dump(mode="json", exclude_none=True) for entry in entries])
        return
    for page, on_page in pages:
        print_text(_heading(page))
        if page.memo:
            print_text(f"   {_memo(page.memo)}", style="dim")
        for number, entry in enumerate(on_page, start=1):
            print_entry(number, entry)


async def _read(
    client: "Client", scope: "Scope", identity: str, *, short: bool
) -> "list[tuple[ArchivePage, Sequence[ArchiveEntry]]]":
    """The page or the pages that are meant, with their entries."""
    found = [
        (read.page, read.entries)
        for read in await _find(client, scope, identity)
        if read.page is not None
    ]
    if not short:
        return list(found)
    return [
        (page, await with_short_names(client, scope, entries))
        for page, (_, entries) in zip(
            await with_short_names(client, scope, (page for page, _ in found)), found, strict=True
        )
    ]


async def _find(client: "Client", scope: "Scope", identity: str) -> "list[GetPageResponse]":
    for read in (client.archive.page, client.archive.page_of):
        if (found := await read(scope, identity)).page is not None:
            return [found]
    pages = await _pages_of(client, scope, await source_named(client, scope, identity))
    return [await client.archive.page(scope, page.id) for page in pages]


async def _pages_of(client: "Client", scope: "Scope", document: str) -> "list[ArchivePage]":
    """The pages of a document, in their order."""
    from fourtier.schema.message import MAX_OFFSET

    listed = await client.archive.list(scope, source=document, limit=MAX_OFFSET)
    pages = [page for page in listed.pages if page.source_kind == "document"]
    return sorted(pages, key=lambda page: page.number)


@archive.command("list", epilog="Example: fourtier archive list --user ann")
def list_pages(
    user: User,
    source: Annotated[
        str, typer.Argument(help="Only pages of this document or conversation.")
    ] = "",
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    as_json: AsJson = False,
) -> None:
    """Show pages, those that were last added to first."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)

    async def read(client: "Client") -> "ListPagesResponse":
        named = await source_named(client, scope, source)
        listed = await client.archive.list(scope, source=named, limit=limit)
        if as_json:
            return listed
        pages = await with_short_names(client, scope, listed.pages)
        return listed.model_copy(update={"pages": tuple(pages)})

    listed = with_client(flow, read)
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

    async def read(client: "Client") -> "ListMemosResponse":
        named = await source_named(client, scope, source)
        listed = await client.archive.memos(scope, query, source=named, limit=limit)
        if as_json:
            return listed
        memos = await with_short_names(client, scope, listed.memos)
        return listed.model_copy(update={"memos": tuple(memos)})

    listed = with_client(flow, read)
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
