"""`fourtier dead-letters ...`: the messages that services could not handle."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_bus
from fourtier.interfaces.cli.options import DEFAULT_FLOW, AsJson, FlowName, Limit
from fourtier.interfaces.cli.output import console, one_line, print_json, print_text

if TYPE_CHECKING:
    from fourtier.operations.dead_letters import DeadLetter, DeadLetters
    from fourtier.runtime.bus.contract import Bus

dead_letters = typer.Typer(help="Messages that could not be handled.", no_args_is_help=True)
Service = Annotated[str, typer.Option("--service", "-s", help="Only this service's.")]


def _services(flow: str, service: str) -> list[str]:
    from fourtier.flows.model import read_flow

    services = list(read_flow(flow).services)
    if service and service not in services:
        raise typer.BadParameter(f"the flow has no service {service!r}: {', '.join(services)}")
    return [service] if service else services


@dead_letters.command("list", epilog="Example: fourtier dead-letters list --service facts")
def list_letters(
    flow: FlowName = DEFAULT_FLOW,
    service: Service = "",
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """Show what could not be handled, and why, oldest first. Nothing is removed.

    --json shows the messages themselves too; --limit is for each service.
    """
    from fourtier.operations.dead_letters import read_dead_letters

    services = _services(flow, service)

    async def read(bus: "Bus") -> "list[DeadLetters]":
        return [await read_dead_letters(bus, name, limit=limit) for name in services]

    found = with_bus(flow, read)
    letters = [letter for each in found for letter in each.oldest]
    total = sum(each.total for each in found)
    if as_json:
        print_json([_as_json(letter) for letter in letters])
        return
    for letter in letters:
        _show(letter)
    if len(letters) < total:
        print_text(f"{len(letters)} of {total}")
    elif not total:
        print_text("There are no dead letters.")


def _show(letter: "DeadLetter") -> None:
    """Two lines: which message, and why it could not be handled; a long reason is cut."""
    tries = "1 attempt" if letter.attempts == 1 else f"{letter.attempts} attempts"
    when = f"{letter.at.astimezone():%Y-%m-%d %H:%M:%S}"
    print_text(f"{when}  {letter.service}  {letter.topic}  {tries}  {letter.id}")
    reason = one_line(letter.error)
    console.print(f"    {reason}", markup=False, no_wrap=True, overflow="ellipsis")


@dead_letters.command("replay", epilog="Example: fourtier dead-letters replay --service facts")
def replay_letters(flow: FlowName = DEFAULT_FLOW, service: Service = "") -> None:
    """Send what could not be handled again, once its cause is removed. It doubles nothing."""
    from fourtier.operations.dead_letters import replay_dead_letters

    services = _services(flow, service)

    async def replay(bus: "Bus") -> dict[str, int]:
        return {name: await replay_dead_letters(bus, name) for name in services}

    for name, number in with_bus(flow, replay).items():
        if number:
            print_text(f"{name}: {number} sent again")
    print_text("Done.")


def _as_json(letter: "DeadLetter") -> dict[str, object]:
    return {
        "id": letter.id,
        "service": letter.service,
        "topic": letter.topic,
        "at": letter.at.isoformat(),
        "attempts": letter.attempts,
        "error": letter.error,
        "payload": letter.payload.decode(errors="replace"),
    }
