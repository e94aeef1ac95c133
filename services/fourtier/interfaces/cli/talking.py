"""`fourtier chat`, `ask` and `end`."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from fourtier.flows.model import DEFAULT_FLOW
from fourtier.interfaces.cli.ask import ask_once, show_reply
from fourtier.interfaces.cli.chat import Chat, new_conversation_id
from fourtier.interfaces.cli.scope import (
    DEFAULT_COLLECTION,
    AsJson,
    Collection,
    FlowName,
    User,
)
from fourtier.operations.connection import open_client
from fourtier.schema.message import Scope

Conversation = Annotated[
    str, typer.Option("--conversation", help="Go on with this one; default: a new one.")
]
console = Console()


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: fourtier chat --user ann")(chat)
    app.command(
        epilog='Example: fourtier ask "What was my budget for the trip?" --user ann --json'
    )(ask)
    app.command(epilog="Example: fourtier end 20260301-101500-a1b2c3")(end)


def chat(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    conversation: Conversation = "",
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """Talk to a running flow. Without a terminal it takes one message per line."""

    async def run() -> None:
        async with open_client(flow) as client:
            scope = Scope(user, collection)
            await Chat(client, scope, conversation or new_conversation_id(), console).run()

    asyncio.run(run())


def ask(
    question: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    conversation: Conversation = "",
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
    memory: Annotated[bool, typer.Option(help="Use memory and add to it.")] = True,
) -> None:
    """Ask one question."""

    async def run() -> bool:
        async with open_client(flow) as client:
            reply = await ask_once(
                client, question, Scope(user, collection), conversation, memory=memory
            )
        show_reply(reply, console, as_json=as_json)
        return reply.error is None

    if not asyncio.run(run()):
        raise typer.Exit(1)


def end(
    conversation: Annotated[str, typer.Argument(help="The conversation's id.")],
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """End a conversation, so that what is worth keeping of it is kept."""

    async def run() -> bool:
        async with open_client(flow) as client:
            return await client.conversations.end(Scope(user, collection), conversation)

    ended = asyncio.run(run())
    console.print(
        f"Ended {conversation}." if ended else f"There is nothing to end in {conversation}.",
        highlight=False,
    )
    if not ended:
        raise typer.Exit(1)
