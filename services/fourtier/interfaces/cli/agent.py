"""`fourtier chat`, `ask` and `end`: talk to the agent of a running flow."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fourtier.interfaces.cli.connecting import with_bus, with_client
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    User,
)
from fourtier.interfaces.cli.output import print_text

if TYPE_CHECKING:
    from fourtier.runtime.bus.contract import Bus

Conversation = Annotated[
    str, typer.Option("--conversation", help="Go on with this one; default: a new one.")
]


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
    """Talk to a running flow. Through a pipe each line is a message.

    The exit code is 1 when a message from a pipe got no answer.
    """
    from fourtier.client import client_on
    from fourtier.flows.model import read_flow
    from fourtier.interfaces.cli.chat import Chat
    from fourtier.interfaces.cli.memories import new_conversation_id
    from fourtier.operations.forgetting import forget_dead_letters
    from fourtier.schema.message import Scope

    scope, conversation_id = Scope(user, collection), conversation or new_conversation_id()
    services = list(read_flow(flow).services)

    async def run(bus: "Bus") -> bool:
        letters = partial(forget_dead_letters, bus, services)
        async with client_on(bus) as client:
            return await Chat(client, scope, conversation_id, letters).run()

    end_with(answered=with_bus(flow, run))


def end_with(*, answered: bool) -> None:
    """Let a program know that a message from its pipe got no answer; a person has seen it."""
    import sys

    if not answered and not sys.stdin.isatty():
        raise typer.Exit(1)


def ask(
    question: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    conversation: Conversation = "",
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
    memory: Annotated[bool, typer.Option(help="Use memory and add to it.")] = True,
    research: Annotated[
        Literal["off", "auto", "deep"] | None,
        typer.Option(help="Search the archive in several rounds; default: as the flow has it."),
    ] = None,
    request_id: Annotated[
        str, typer.Option(help="Names the question: asked again, it gets the same answer.")
    ] = "",
) -> None:
    """Ask one question. The exit code is 1 when there is no answer."""
    from fourtier.interfaces.cli.ask import show_reply

    reply = with_client(
        flow,
        lambda client: client.answer(
            question,
            user=user,
            collection=collection,
            conversation_id=conversation,
            enable_memory=memory,
            research=research,
            request_id=request_id,
        ),
    )
    show_reply(reply, as_json=as_json)
    if reply.error is not None:
        raise typer.Exit(1)


def end(
    conversation: Annotated[str, typer.Argument(help="The conversation's id.")],
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
) -> None:
    """End a conversation, so that what lasts of it goes into memory."""
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    if not with_client(flow, lambda client: client.conversations.end(scope, conversation)):
        print_text(f"There is nothing to end in {conversation}.")
        raise typer.Exit(1)
    print_text(f"Ended {conversation}.")
