"""`fourtier facts|episodes|conversations ...`: look at memory and forget."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    Limit,
    ListLimit,
    User,
    mentioned_names,
)
from fourtier.interfaces.cli.output import (
    counted,
    print_error,
    print_items,
    print_text,
    print_total,
    progress_bar,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourtier.schema.conversations import ConversationSummary
    from fourtier.schema.episodes import Episode
    from fourtier.schema.facts import Fact
    from fourtier.schema.message import NotStored, Scope

facts = typer.Typer(help="Long-term facts.", no_args_is_help=True)
episodes = typer.Typer(help="Past problem-solving.", no_args_is_help=True)
conversations = typer.Typer(help="Conversation records.", no_args_is_help=True)

Superseded = Annotated[
    bool, typer.Option("--superseded", help="Also those that a newer one has replaced.")
]


def _scope(user: str, collection: str) -> "Scope":
    from fourtier.schema.message import Scope

    return Scope(user, collection)


#: Why a fact is not stored.
_REASONS = {
    "forgotten": "it was forgotten after it was said",
    "opted-out": "this user has opted out; `fourtier opt-in` takes that back",
    "expired": "it was said longer ago than the flow keeps facts",
    "evicted": "the memory of this user is full, and newer facts have its place",
}


def _not_stored(reason: "NotStored") -> typer.Exit:
    print_error(f"not remembered: {_REASONS[reason]}")
    return typer.Exit(1)


def _not_found(what: str, scope: "Scope") -> typer.Exit:
    print_error(f"{scope.user}/{scope.collection} has no {what}")
    return typer.Exit(1)


@facts.command("list", epilog="Example: fourtier facts list --user ann --limit 20")
def list_facts(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Show facts, newest first."""
    scope = _scope(user, collection)
    listed = with_client(
        flow,
        lambda client: client.facts.list(scope, limit=limit, include_superseded=superseded),
    )
    _show_facts(listed.facts, as_json=as_json)
    what = f"facts of {user}/{collection}"
    print_total(len(listed.facts), listed.total, what, as_json=as_json)


@facts.command("search", epilog='Example: fourtier facts search "budget for the trip"')
def search_facts(
    query: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 5,
    superseded: Superseded = False,
    mentions: Annotated[
        list[str] | None,
        typer.Option(
            "--mentions",
            help="Only facts that mention this name; several: one of them.",
            callback=mentioned_names,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search facts by meaning and by words, best first."""
    scope = _scope(user, collection)
    found = with_client(
        flow,
        lambda client: client.facts.search(
            scope, query, top_k=limit, include_superseded=superseded, mentions=mentions or ()
        ),
    )
    _show_facts(found, as_json=as_json)


@facts.command("add", epilog='Example: fourtier facts add "I live in Oslo"')
def add_fact(
    content: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Store a fact."""
    scope = _scope(user, collection)
    stored = with_client(flow, lambda client: client.facts.store(scope, content, speaker=user))
    if stored.not_stored is not None:
        raise _not_stored(stored.not_stored)
    print_text(f"{'Remembered' if stored.created else 'Known already'} {stored.fact_id}")
    for older in stored.superseded:
        print_text(f"  it replaces {older}")


@facts.command("reindex", epilog="Example: fourtier facts reindex --flow cluster")
def reindex(flow: FlowName = DEFAULT_FLOW) -> None:
    """Write the index of all facts of all users from the graph, with the present embedding model.

    For a graph that was restored without its vectors, and for another embedding model. The flow
    runs meanwhile; what is not indexed yet is not found. Repeating it changes nothing.
    """
    from fourtier.operations.reindexing import reindex_facts

    with progress_bar("Indexing") as show_done:
        done = with_client(
            flow,
            lambda client: reindex_facts(client, lambda now: show_done(now.indexed, now.facts)),
        )
    print_text(f"{counted(done.indexed, 'fact')} indexed.")
    if done.removed:
        print_text(f"{counted(done.removed, 'entry', 'entries')} without a fact removed.")
    if done.left > 0:
        print_text(
            f"{counted(done.left, 'entry of a user', 'entries of users')} without a fact in the "
            f"graph: never found; to remove them, begin with empty vectors."
        )


@episodes.command("list", epilog="Example: fourtier episodes list --user ann")
def list_episodes(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    as_json: AsJson = False,
) -> None:
    """Show episodes, newest first."""
    scope = _scope(user, collection)
    listed = with_client(flow, lambda client: client.episodes.list(scope, limit=limit))
    _show_episodes(listed.episodes, as_json=as_json)
    what = f"episodes of {user}/{collection}"
    print_total(len(listed.episodes), listed.total, what, as_json=as_json)


@episodes.command("search", epilog='Example: fourtier episodes search "cancel a flight"')
def search_episodes(
    query: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 3,
    as_json: AsJson = False,
) -> None:
    """Search episodes by their goal, best first."""
    scope = _scope(user, collection)
    found = with_client(flow, lambda client: client.episodes.search(scope, query, top_k=limit))
    _show_episodes(found, as_json=as_json)


@conversations.command("list", epilog="Example: fourtier conversations list --user ann")
def list_conversations(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: ListLimit = 50,
    as_json: AsJson = False,
) -> None:
    """Show conversations, last touched first."""
    scope = _scope(user, collection)
    listed = with_client(flow, lambda client: client.conversations.list(scope, limit=limit))
    print_items(
        listed.conversations,
        ("id", "invocations", "last touched", "ended"),
        _conversation_cells,
        as_json=as_json,
        none="No conversations found.",
    )
    what = f"conversations of {user}/{collection}"
    print_total(len(listed.conversations), listed.total, what, as_json=as_json)


@conversations.command("show", epilog="Example: fourtier conversations show 20260301-101500-a1b2c3")
def show_conversation(
    conversation_id: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
) -> None:
    """Show one conversation from its beginning."""
    scope = _scope(user, collection)
    record = with_client(flow, lambda client: client.conversations.get(scope, conversation_id))
    if not record.invocations:
        raise _not_found(f"conversation {conversation_id}", scope)
    if as_json:
        print_items(record.invocations, (), lambda _: (), as_json=True, none="")
        return
    for each in record.invocations:
        when = f"{each.timestamp.astimezone():%Y-%m-%d %H:%M}"
        print_text(f"{when}  {each.speaker or user}: {each.query}")
        for part in (each.summary, each.result):
            if part:
                print_text(f"{'':18}{part}")


def _show_facts(found: "Sequence[Fact]", *, as_json: bool) -> None:
    columns = ("id", "stated", "fact")
    print_items(found, columns, _fact_cells, as_json=as_json, none="No facts found.")


def _fact_cells(fact: "Fact") -> tuple[str, ...]:
    """Who said it, and until when it held, stand with the fact: three columns fit a terminal."""
    notes = [f"said by {fact.speaker}"] if fact.speaker else []
    notes += [f"until {fact.valid_until:%Y-%m-%d}"] if fact.valid_until else []
    about = f" ({', '.join(notes)})" if notes else ""
    return fact.id, f"{fact.timestamp:%Y-%m-%d}", f"{fact.content}{about}"


def _show_episodes(found: "Sequence[Episode]", *, as_json: bool) -> None:
    columns = ("id", "ended", "result", "goal and outcome")
    print_items(found, columns, _episode_cells, as_json=as_json, none="No episodes found.")


def _episode_cells(episode: "Episode") -> tuple[str, ...]:
    outcome = f"{episode.goal}\n{episode.outcome}" if episode.outcome else episode.goal
    return episode.id, f"{episode.timestamp:%Y-%m-%d}", episode.result, outcome


def _conversation_cells(each: "ConversationSummary") -> tuple[str, ...]:
    touched = f"{each.updated_at.astimezone():%Y-%m-%d %H:%M}"
    return each.conversation_id, str(each.invocations), touched, "yes" if each.ended else "no"
