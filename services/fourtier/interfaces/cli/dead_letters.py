"""`fourtier dead-letters ...`: the messages that services could not handle."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_bus
from fourtier.interfaces.cli.options import DEFAULT_FLOW, AsJson, DryRun, FlowName, ListLimit, Yes
from fourtier.interfaces.cli.output import (
    console,
    counted,
    one_line,
    print_json,
    print_text,
    print_total,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

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
    limit: ListLimit = 100,
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
    else:
        for letter in letters:
            _show(letter)
    if len(letters) < total:
        print_total(len(letters), total, "dead letters", as_json=as_json)
    elif not total and not as_json:
        print_text("There are no dead letters.")


def _show(letter: "DeadLetter") -> None:
    """Two lines: which message, and why it could not be handled; a long reason is cut."""
    tries = counted(letter.attempts, "attempt")
    when = f"{letter.at.astimezone():%Y-%m-%d %H:%M:%S}"
    print_text(f"{when}  {letter.service}  {letter.topic}  {tries}  {letter.id}")
    reason = one_line(letter.error)
    console.print(f"    {reason}", no_wrap=True, overflow="ellipsis")


@dead_letters.command("replay", epilog="Example: fourtier dead-letters replay --service facts")
def replay_letters(flow: FlowName = DEFAULT_FLOW, service: Service = "") -> None:
    """Send what could not be handled again, once its cause is removed. It doubles nothing.

    A malformed message comes back each time, until `dead-letters delete --malformed` removes it.
    """
    from fourtier.operations.dead_letters import replay_dead_letters

    services = _services(flow, service)

    async def replay(bus: "Bus") -> dict[str, int]:
        return {name: await replay_dead_letters(bus, name) for name in services}

    sent = {name: number for name, number in with_bus(flow, replay).items() if number}
    for name, number in sent.items():
        print_text(f"{name}: {number} sent again")
    if not sent:
        print_text("There are no dead letters.")


@dead_letters.command(
    "delete", epilog="Example: fourtier dead-letters delete --malformed --older-than 7"
)
def delete_letters(
    flow: FlowName = DEFAULT_FLOW,
    service: Service = "",
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Only the one with this id; may be repeated.")
    ] = None,
    malformed: Annotated[
        bool, typer.Option("--malformed", help="Only those that nobody can read.")
    ] = False,
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", min=0, max=36_500, metavar="DAYS", help="Only older ones."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All of them, of all services.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Delete what could not be handled, without sending it again. What it says is lost.

    With several options a message must fit all of them. With --id it fails if there is none.
    """
    narrowed = bool(service or ids or malformed or older_than is not None)
    if narrowed == everything:
        raise typer.BadParameter("name --all, or any of --service, --id, --malformed, --older-than")
    services = _services(flow, service)
    now = datetime.now(UTC)
    # Not what comes while somebody reads how many there are.
    before = now - timedelta(days=older_than or 0)
    wanted = _wanted(ids or (), before, malformed=malformed)
    found = _delete(flow, services, wanted, dry_run=True)
    for name, number in found.items():
        print_text(f"{name}: {counted(number, 'dead letter')}")
    if not found:
        print_text("There are no such dead letters.")
        raise typer.Exit(1 if ids else 0)
    if dry_run:
        print_text(f"{counted(sum(found.values()), 'dead letter')} would be deleted.")
        return
    if not yes:
        typer.confirm("Delete for good?", abort=True)
    done = _delete(flow, services, wanted, dry_run=False)
    print_text(f"{counted(sum(done.values()), 'dead letter')} deleted.")


def _wanted(
    ids: "Collection[str]", before: datetime, *, malformed: bool
) -> "Callable[[DeadLetter], bool]":
    """Whether a dead letter is one of those that are to be deleted."""

    def is_wanted(letter: "DeadLetter") -> bool:
        named = not ids or letter.id in ids
        return named and letter.at <= before and (letter.is_malformed or not malformed)

    return is_wanted


def _delete(
    flow: str, services: list[str], wanted: "Callable[[DeadLetter], bool]", *, dry_run: bool
) -> dict[str, int]:
    """How many were deleted, or would be, of each service that has any."""
    from fourtier.operations.dead_letters import remove_dead_letters

    async def delete(bus: "Bus") -> dict[str, int]:
        return {
            name: await remove_dead_letters(bus, name, wanted=wanted, dry_run=dry_run)
            for name in services
        }

    return {name: number for name, number in with_bus(flow, delete).items() if number}


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
