"""`fourtier facts|episodes|conversations ...`: look at memory and forget."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fourtier.flows.model import DEFAULT_FLOW
from fourtier.interfaces.cli.scope import (
    DEFAULT_COLLECTION,
    AsJson,
    Collection,
    FlowName,
    User,
)
from fourtier.operations.connection import open_client
from fourtier.runtime.errors import FourtierError
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.message import Scope

facts = typer.Typer(help="Long-term facts.", no_args_is_help=True)
episodes = typer.Typer(help="Past problem-solving.", no_args_is_help=True)
conversations = typer.Typer(help="Conversation records.", no_args_is_help=True)

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at most.")]
Superseded = Annotated[
    bool, typer.Option("--superseded", help="Also those that a newer one has replaced.")
]
console = Console()


class NotFoundError(FourtierError):
    """There is nothing of that name in this scope."""

    type = "not-found"


@facts.command("list", epilog="Example: fourtier facts list --user ann --limit 20")
def list_facts(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 50,
    superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Show facts, newest first."""

    async def run() -> tuple[tuple[Fact, ...], int]:
        async with open_client(flow) as client:
            listed = await client.facts.list(
                Scope(user, collection), limit=limit, include_superseded=superseded
            )
            return listed.facts, listed.total

    found, total = asyncio.run(run())
    _show_facts(found, as_json=as_json)
    if not as_json:
        console.print(f"{len(found)} of {total} facts of {user}/{collection}", highlight=False)


@facts.command("search", epilog='Example: fourtier facts search "budget for the trip"')
def search_facts(
    query: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 5,
    superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Search facts by meaning and by words, best first."""

    async def run() -> tuple[Fact, ...]:
        async with open_client(flow) as client:
            return await client.facts.search(
                Scope(user, collection), query, top_k=limit, include_superseded=superseded
            )

    _show_facts(asyncio.run(run()), as_json=as_json)


@facts.command("add", epilog='Example: fourtier facts add "I live in Oslo"')
def add_fact(
    content: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Keep a fact."""

    async def run() -> None:
        async with open_client(flow) as client:
            stored = await client.facts.store(Scope(user, collection), content, speaker=user)
            console.print("Remembered" if stored.created else "Known already", stored.fact_id)
            for older in stored.superseded:
                console.print("  it replaces", older)

    asyncio.run(run())


@facts.command(
    "forget", epilog="Example: fourtier facts forget 4fa171d9-03a8-5198-9c2b-a08930b4330f"
)
def forget_fact(
    user: User,
    fact_id: Annotated[str, typer.Argument(help="As `fourtier facts list` shows it.")] = "",
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    everything: Annotated[
        bool, typer.Option("--all", help="All facts of this user and collection.")
    ] = False,
) -> None:
    """Forget one fact, or all of a user's collection with --all."""
    if bool(fact_id) == everything:
        raise typer.BadParameter("name one fact by its id, or say --all")
    if everything:
        typer.confirm(f"Forget ALL facts of {user}/{collection}?", abort=True)

    async def run() -> None:
        async with open_client(flow) as client:
            scope = Scope(user, collection)
            if everything:
                console.print(f"Forgot {await client.facts.forget_all(scope)} facts.")
            elif await client.facts.forget(scope, fact_id):
                console.print("Forgot it.")
            else:
                raise NotFoundError(f"{user}/{collection} has no fact {fact_id}")

    asyncio.run(run())


@episodes.command("list", epilog="Example: fourtier episodes list --user ann")
def list_episodes(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show episodes, newest first."""

    async def run() -> tuple[Episode, ...]:
        async with open_client(flow) as client:
            return (await client.episodes.list(Scope(user, collection), limit=limit)).episodes

    _show_episodes(asyncio.run(run()), as_json=as_json)


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

    async def run() -> tuple[Episode, ...]:
        async with open_client(flow) as client:
            return await client.episodes.search(Scope(user, collection), query, top_k=limit)

    _show_episodes(asyncio.run(run()), as_json=as_json)


@conversations.command("list", epilog="Example: fourtier conversations list --user ann")
def list_conversations(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show conversations, last touched first."""

    async def run() -> None:
        async with open_client(flow) as client:
            listed = await client.conversations.list(Scope(user, collection), limit=limit)
        if as_json:
            _print_json(listed.conversations)
            return
        table = _table("conversation", "invocations", "last touched", "ended")
        for each in listed.conversations:
            touched = f"{each.updated_at.astimezone():%Y-%m-%d %H:%M}"
            ended = "yes" if each.ended else "no"
            table.add_row(escape(each.conversation_id), str(each.invocations), touched, ended)
        console.print(table)
        console.print(f"{len(listed.conversations)} of {listed.total}", highlight=False)

    asyncio.run(run())


@conversations.command("show", epilog="Example: fourtier conversations show 20260301-101500-a1b2c3")
def show_conversation(
    conversation_id: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
) -> None:
    """Show one conversation from its beginning."""

    async def run() -> None:
        async with open_client(flow) as client:
            record = await client.conversations.get(Scope(user, collection), conversation_id)
        if not record.invocations:
            raise NotFoundError(f"{user}/{collection} has no conversation {conversation_id}")
        if as_json:
            _print_json(record.invocations)
            return
        for each in record.invocations:
            when = f"{each.timestamp.astimezone():%Y-%m-%d %H:%M}"
            console.print(f"{when}  {each.speaker or user}: {each.query}", markup=False)
            for part in (each.summary, each.result):
                if part:
                    console.print(f"{'':18}{part}", markup=False, highlight=False)

    asyncio.run(run())


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _show_facts(found: Sequence[Fact], *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
        return
    table = _table("id", "stated", "speaker", "fact", "replaced")
    for fact in found:
        replaced = f"{fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
        stated = f"{fact.timestamp:%Y-%m-%d}"
        table.add_row(fact.id, stated, escape(fact.speaker), escape(fact.content), replaced)
    console.print(table if found else "No facts found.")


def _show_episodes(found: Sequence[Episode], *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
        return
    table = _table("id", "ended", "result", "goal", "outcome")
    for each in found:
        ended = f"{each.timestamp:%Y-%m-%d}"
        table.add_row(each.id, ended, each.result, escape(each.goal), escape(each.outcome))
    console.print(table if found else "No episodes found.")


def _print_json(items: Sequence[BaseModel]) -> None:
    console.print_json(data=[item.model_dump(mode="json", exclude_none=True) for item in items])
