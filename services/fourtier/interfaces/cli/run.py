"""`fourtier up` and `serve`: run a flow, or some of its services, in this process."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.agent import end_with
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    Collection,
    FlowArgument,
    User,
)
from fourtier.interfaces.cli.output import print_note

if TYPE_CHECKING:
    from fourtier.runtime.process.flow_process import FlowProcess
    from fourtier.schema.message import Scope

#: Seconds for which a chat waits at its start to see what the model can do.
_CHECK_SECONDS = 15.0


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: fourtier up            (then, elsewhere: fourtier chat)")(up)
    app.command(epilog="Example: fourtier serve cluster facts episodes")(serve)


def up(
    user: User,
    flow: FlowArgument = DEFAULT_FLOW,
    chat: Annotated[
        bool, typer.Option("--chat", help="Talk to it here, and stop it at the end.")
    ] = False,
    collection: Collection = DEFAULT_COLLECTION,
) -> None:
    """Run a whole flow in this process until it is told to stop."""
    from fourtier.schema.message import Scope

    end_with(answered=_run_process(flow, (), Scope(user, collection) if chat else None))


def serve(
    flow: FlowArgument,
    services: Annotated[list[str], typer.Argument(help="Which of its services.")],
) -> None:
    """Run some services of a flow in this process, as a Deployment in a cluster does."""
    _run_process(flow, services, None)


def _run_process(flow: str, services: Sequence[str], scope: "Scope | None") -> bool:
    from fourtier.runtime.extras import extra_needed

    with extra_needed("service"):
        import uvloop
    return uvloop.run(_run(flow, services, scope))


async def _run(flow: str, services: Sequence[str], scope: "Scope | None") -> bool:
    """Run until a stop is asked for or the chat ends; returns whether the chat got all answers."""
    from fourtier.flows.model import read_flow
    from fourtier.runtime.extras import extra_needed
    from fourtier.runtime.privacy.redaction import redacted_log
    from fourtier.runtime.settings import read_settings
    from fourtier.runtime.telemetry.logs import set_up_logs

    with extra_needed("service"):
        from fourtier.flows.plan import process_plan
        from fourtier.operations.model_check import check_named_model
        from fourtier.operations.start_message import start_message
        from fourtier.runtime.process.flow_process import flow_process, stop_on_signals

    settings = read_settings()
    # A person who chats wants to read the conversation: only what is wrong is logged then.
    level = "WARNING" if scope else settings.log_level
    set_up_logs(level, settings.log_format, redacted_log)
    plan = process_plan(read_flow(flow), settings, services)
    async with flow_process(plan) as process:
        with stop_on_signals(process):
            if scope is not None:
                checked = await check_named_model(
                    process.bus, plan.host.services, settings, within=_CHECK_SECONDS
                )
                # Not among the answers, which a pipe may take.
                if said := start_message(plan.host.services, settings, checked):
                    print_note(said, style="dim")
                return await _chat(process, scope, list(plan.host.services))
            await process.wait()
    return True


async def _chat(process: "FlowProcess", scope: "Scope", services: "Sequence[str]") -> bool:
    """Chat until the input ends, a stop is asked for, or a service fails."""
    from fourtier.client import client_on
    from fourtier.interfaces.cli.chat import Chat
    from fourtier.interfaces.cli.memories import new_conversation_id
    from fourtier.operations.forgetting import forget_dead_letters

    async with client_on(process.bus) as client:
        letters = partial(forget_dead_letters, process.bus, services)
        chat = Chat(client, scope, new_conversation_id(), letters)
        chatting = asyncio.create_task(chat.run())
        waiting = asyncio.create_task(process.wait())
        await asyncio.wait([chatting, waiting], return_when=asyncio.FIRST_COMPLETED)
        for task in (chatting, waiting):
            task.cancel()
        results = await asyncio.gather(chatting, waiting, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result
    return results[0] is not False
