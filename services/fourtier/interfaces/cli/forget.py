"""`fourtier forget`: delete memories for good, and say what was deleted and what remains."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_bus, with_client
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    Collection,
    DryRun,
    FlowName,
    User,
    Yes,
)
from fourtier.interfaces.cli.output import counted, one_line, print_text
from fourtier.interfaces.cli.sources import source_named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fourtier.client import Client, Forgotten
    from fourtier.operations.forgetting import ForgottenLetters
    from fourtier.schema.erasure import EraseRequest
    from fourtier.schema.facts import Fact
    from fourtier.schema.message import Scope

    Forgetting = Callable[[Client, bool], Awaitable[Forgotten]]

#: Memories of a kind that are shown before they go.
_SHOWN = 5
#: Facts that are shown for a text.
_MATCHES = 10
#: Characters of each.
_WIDTH = 80


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("forget", epilog='Example: fourtier forget --matching "my address"')(forget)


def forget(
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    fact: Annotated[str, typer.Option("--fact", help="A fact, by its id.")] = "",
    episode: Annotated[str, typer.Option("--episode", help="An episode, by its id.")] = "",
    conversation: Annotated[
        str, typer.Option("--conversation", help="A conversation and what was learned from it.")
    ] = "",
    document: Annotated[
        str, typer.Option("--document", help="A document of the archive, by its file or its name.")
    ] = "",
    matching: Annotated[
        str, typer.Option("--matching", help="Facts about something; you choose which.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--everything", help="All of the user's collection.")
    ] = False,
    keep_learned: Annotated[
        bool, typer.Option("--keep-learned", help="With --conversation: facts and episodes stay.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Forget for good: a fact, episode, conversation or document, what is about something, or all.

    What is forgotten does not come back, not by a replay, an import or the end of a conversation.
    """
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    named = [bool(each) for each in (fact, episode, conversation, document, matching, everything)]
    if sum(named) != 1:
        raise typer.BadParameter(
            "name one of --fact, --episode, --conversation, --document, --matching, --everything"
        )
    if keep_learned and not conversation:
        raise typer.BadParameter("--keep-learned goes with --conversation")
    chosen = _choose(flow, scope, matching, ask=not (yes or dry_run)) if matching else ()
    if matching and not chosen:
        print_text("Nothing is forgotten.")
        return
    if fact:
        chosen = with_client(flow, lambda client: client.forget.known(scope, [fact]))
    if document:
        document = with_client(flow, lambda client: source_named(client, scope, document))
        print_text(f"Document {document}")
    way = (
        _document(scope, document)
        if document
        else _way(scope, chosen, fact, episode, conversation, keep_learned=keep_learned)
    )
    _carry_out(flow, way, dry_run=dry_run, ask=not yes)


@dataclass(frozen=True)
class _Way:
    """What is to be forgotten: how in the stores, and what of it in the dead letters."""

    forget: "Forgetting"
    letters: "EraseRequest"


def _document(scope: "Scope", document: str) -> _Way:
    """What forgets a document, which only the archive has."""
    from fourtier.schema.erasure import EraseRequest

    return _Way(
        lambda client, dry: client.forget.document(scope, document, dry_run=dry),
        EraseRequest(user=scope.user, collection=scope.collection, document=document),
    )


def _way(
    scope: "Scope",
    chosen: "Sequence[Fact]",
    fact: str,
    episode: str,
    conversation: str,
    *,
    keep_learned: bool,
) -> _Way:
    """What forgets some facts, or one thing that is named; all where none is."""
    from fourtier.operations.forgetting import about_facts
    from fourtier.schema.erasure import EraseRequest

    of_scope = EraseRequest(user=scope.user, collection=scope.collection)
    if chosen or fact:
        ids = [fact] if fact else []
        return _Way(
            lambda client, dry: client.forget.facts(scope, chosen, *ids, dry_run=dry),
            about_facts(scope, chosen, *ids),
        )
    if episode:
        return _Way(
            lambda client, dry: client.forget.episode(scope, episode, dry_run=dry),
            of_scope.model_copy(update={"ids": (episode,)}),
        )
    if conversation:
        return _Way(
            lambda client, dry: client.forget.conversation(
                scope, conversation, keep_learned=keep_learned, dry_run=dry
            ),
            of_scope.model_copy(update={"conversation_id": conversation}),
        )
    return _Way(
        lambda client, dry: client.forget.everything(scope, dry_run=dry),
        of_scope.model_copy(update={"everything": True}),
    )


def _carry_out(flow: str, way: _Way, *, dry_run: bool, ask: bool) -> None:
    """Show what would go, ask, and forget."""
    would = with_client(flow, lambda client: way.forget(client, True))
    letters = _forget_letters(flow, way, dry_run=True)
    _show(would, letters.removed)
    if not would.number and not letters.removed:
        print_text("Nothing of it is stored; what is still on its way would be forgotten too.")
    if dry_run:
        print_text(f"{counted(would.number, 'memory', 'memories')} would be forgotten.")
        return
    if ask:
        typer.confirm("Forget this for good?", abort=True)
    done = with_client(flow, lambda client: way.forget(client, False))
    gone = _forget_letters(flow, way, dry_run=False)
    print_text(
        f"{counted(done.number, 'memory is', 'memories are')} forgotten, and "
        f"{counted(gone.removed, 'dead letter')}."
    )
    print_text(_what_remains(flow, gone.unknown))


def _forget_letters(flow: str, way: _Way, *, dry_run: bool) -> "ForgottenLetters":
    from fourtier.flows.model import read_flow
    from fourtier.operations.forgetting import forget_dead_letters

    services = list(read_flow(flow).services)
    request = way.letters.model_copy(update={"dry_run": dry_run})
    return with_bus(flow, lambda bus: forget_dead_letters(bus, services, request))


def _what_remains(flow: str, unknown: int) -> str:
    """Where bytes of it may still be, and until when."""
    from fourtier.flows.model import read_flow

    hours = read_flow(flow).bus.topics.retention_hours
    retained = f"after {hours} hours (retention-hours)" if hours else "when its ledger is closed"
    bus = (
        "What was sent on the bus is on its disk until every service has handled it: with the "
        f"embedded bus some minutes more, on Pulsar it goes {retained}."
    )
    stores = (
        "Neo4j and Qdrant rewrite their files in their own time. Backups and exported logs have "
        "what they have. docs/security.md says how long, and how to have less."
    )
    lines = [bus, stores]
    if unknown:
        lines.append(
            f"{counted(unknown, 'dead letter does', 'dead letters do')} not say of whom, and stay: "
            f"see `fourtier dead-letters list`, and delete with `fourtier dead-letters delete`."
        )
    return "\n".join(lines)


def _choose(flow: str, scope: "Scope", text: str, *, ask: bool) -> "Sequence[Fact]":
    """The facts that somebody means by a text; those with all of its words if nobody is asked."""
    found = with_client(flow, lambda client: client.forget.matching(scope, text, limit=_MATCHES))
    more = len(found) == _MATCHES
    if not ask:
        wanted = set(text.casefold().split())
        found = tuple(each for each in found if wanted <= set(_words(each.content)))
    for number, each in enumerate(found, 1):
        print_text(f"{number:3}  {each.timestamp:%Y-%m-%d}  {each.content}")
    if more:
        print_text(f"The best {_MATCHES} only: there may be more; repeat the command for them.")
    if not found or not ask:
        return found
    answer: str = typer.prompt("Forget which? Numbers, or `all`; nothing by default", default="")
    if answer.strip().casefold() == "all":
        return found
    return [found[number - 1] for number in _numbers(answer, len(found))]


def _words(text: str) -> "Sequence[str]":
    return re.findall(r"[\w'-]+", text.casefold())


def _numbers(answer: str, maximum: int) -> list[int]:
    """The numbers in an answer.

    Raises:
        BadParameter: something in it is none of those that were shown.
    """
    parts = answer.replace(",", " ").split()
    if not all(part.isdecimal() and 1 <= int(part) <= maximum for part in parts):
        raise typer.BadParameter(f"{answer!r}: name numbers from 1 to {maximum}")
    return [int(part) for part in parts]


def _show(would: "Forgotten", letters: int) -> None:
    kinds = {
        ("fact", "facts"): would.facts,
        ("episode", "episodes"): would.episodes,
        ("exchange in conversations", "exchanges in conversations"): would.conversations,
        ("run in working memory", "runs in working memory"): would.working_memory,
        ("entry of the archive", "entries of the archive"): would.archive,
    } | {
        (f"memory of {service}", f"memories of {service}"): part
        for service, part in would.others.items()
    }
    for (one, many), part in kinds.items():
        if part.number:
            print_text(counted(part.number, one, many))
        for each in part.erased[:_SHOWN]:
            print_text(f"  {each.id}  {one_line(each.content)[:_WIDTH]}")
        if part.number > _SHOWN:
            print_text(f"  ... and {part.number - _SHOWN} more")
    if letters:
        print_text(counted(letters, "dead letter"))
