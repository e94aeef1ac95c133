"""`fourtier opt-out` and `fourtier opt-in`: whether a user is remembered."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.options import DEFAULT_FLOW, FlowName, Yes, scope_name
from fourtier.interfaces.cli.output import print_text

if TYPE_CHECKING:
    from fourtier.client import OptOutState

NamedUser = Annotated[str, typer.Argument(help="Whose memory.", callback=scope_name)]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("opt-out", epilog="Example: fourtier opt-out ann --forget")(opt_out)
    app.command("opt-in", epilog="Example: fourtier opt-in ann")(opt_in)


def opt_out(
    user: NamedUser,
    flow: FlowName = DEFAULT_FLOW,
    forget: Annotated[
        bool, typer.Option("--forget", help="Delete for good what is stored, in all collections.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether the user has opted out.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Remember a user no more: nothing is stored of them, and what is stored is not used.

    What is stored stays, can be listed and forgotten, and is used again after `fourtier opt-in`.
    With --forget it is deleted now.
    """
    if check and forget:
        raise typer.BadParameter("--check changes nothing: leave --forget out")
    if check:
        state = with_client(flow, lambda client: client.memory.state(user))
    else:
        if forget and not yes:
            typer.confirm(f"Forget ALL of {user}, in all collections?", abort=True)
        state = with_client(flow, lambda client: client.memory.opt_out(user, forget=forget))
    _show(user, state)
    if forget:
        for service, number in state.forgotten.items():
            print_text(f"{number:6} forgotten in {service}")


def opt_in(user: NamedUser, flow: FlowName = DEFAULT_FLOW) -> None:
    """Remember a user from now on; what was said while opted out stays out of memory."""
    _show(user, with_client(flow, lambda client: client.memory.opt_in(user)))


def _show(user: str, state: "OptOutState") -> None:
    if state.differing:
        print_text(f"{user}: {', '.join(state.differing)} says otherwise than the others; repeat.")
    elif state.by_flow:
        print_text(f"{user} is opted out by the flow file.")
    elif state.opted_out:
        print_text(f"{user} is opted out since {state.since:%Y-%m-%d %H:%M} UTC.")
    else:
        print_text(f"{user} is remembered.")
