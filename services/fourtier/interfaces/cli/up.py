"""`fourtier up` and `serve`: run a flow, or some of its services, in this process."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
import uvloop
from rich.console import Console

from fourtier.client import client_on
from fourtier.flows.model import DEFAULT_FLOW, read_flow
from fourtier.flows.plan import process_plan
from fourtier.interfaces.cli.chat import Chat, new_conversation_id
from fourtier.interfaces.cli.scope import DEFAULT_COLLECTION, Collection, User
from fourtier.runtime.process.flow_process import FlowProcess, flow_process, stop_on_signals
from fourtier.runtime.settings import read_settings
from fourtier.runtime.telemetry.logs import set_up_logs
from fourtier.schema.message import Scope

Flow = Annotated[str, typer.Argument(help="A shipped flow's name or a flow file.")]
console = Console()


def up(
    user: User,
    flow: Flow = DEFAULT_FLOW,
    chat: Annotated[
        bool, typer.Option("--chat", help="Talk to it here, and stop it at the end.")
    ] = False,
    collection: Collection = DEFAULT_COLLECTION,
) -> None:
    """Run a whole flow in this process until it is told to stop."""
    uvloop.run(_run(flow, (), Scope(user, collection) if chat else None))


def serve(
    flow: Flow,
    services: Annotated[list[str], typer.Argument(help="Which of its services.")],
) -> None:
    """Run some services of a flow in this process, as a Deployment in a cluster does."""
    uvloop.run(_run(flow, services, None))


async def _run(flow: str, services: Sequence[str], chatting: Scope | None) -> None:
    settings = read_settings()
    # Who chats wants to read the conversation: only what is wrong is logged then.
    set_up_logs("WARNING" if chatting else settings.log_level, settings.log_format)
    plan = process_plan(read_flow(flow), settings, services)
    async with flow_process(plan) as process:
        with stop_on_signals(process):
            if chatting is None:
                await process.wait()
            else:
                await _chat(process, chatting)


async def _chat(process: FlowProcess, scope: Scope) -> None:
    """Chat until the input ends, a stop is asked for, or a service fails."""
    async with client_on(process.bus) as client:
        chat = Chat(client, scope, new_conversation_id(), console)
        chatting = asyncio.create_task(chat.run())
        waiting = asyncio.create_task(process.wait())
        await asyncio.wait([chatting, waiting], return_when=asyncio.FIRST_COMPLETED)
        for task in (chatting, waiting):
            task.cancel()
        for result in await asyncio.gather(chatting, waiting, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
