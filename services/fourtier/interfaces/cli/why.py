"""`fourtier why`: which memories were found for a run, by what, and which stood in the prompt."""

from collections.abc import Mapping
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from fourtier.interfaces.cli.connecting import with_client
from fourtier.interfaces.cli.entries import found_by
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    User,
)
from fourtier.interfaces.cli.output import one_line, print_error, print_json, print_text

if TYPE_CHECKING:
    from fourtier.client import ConsideredMemory, Why

_TIERS: Mapping[str, str] = {"facts": "fact", "archive": "archive", "episodes": "episode"}
_SHOWN: Mapping[str, str] = {
    "whole": "in the prompt",
    "cut": "in the prompt, cut",
    "in-entry": "has words of that entry",
    "in-conversation": "left out, the conversation has it",
    "repeated": "left out, another says the same",
    "budget": "left out, no tokens were left for it",
    "outdated": "left out, it no longer holds",
}
_MARGIN = "   "


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: fourtier why --user ann")(why)


def why(
    user: User,
    run: Annotated[
        str, typer.Argument(help="Its id, as `fourtier ask --json` has it; the newest if left out.")
    ] = "",
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    as_json: AsJson = False,
) -> None:
    """Say which memories were found for a run, by what, and which of them stood in the prompt.

    Facts, entries of the archive and episodes stand in one ranking; what was said at once has one
    place in it. The words are those that are stored now. The exit code is 1 where the records have
    no such run.
    """
    from fourtier.schema.message import Scope

    scope = Scope(user, collection)
    found = with_client(flow, lambda client: client.why(scope, run))
    if found is None:
        which = f"run {run}" if run else "run that used memory"
        print_error(f"{user}/{collection} has no {which}")
        raise typer.Exit(1)
    if as_json:
        print_json(_as_json(found))
        return
    when = f"{found.run.timestamp:%Y-%m-%d %H:%M}" if found.run.timestamp else ""
    print_text(f"{one_line(found.run.question)}", style="bold")
    print_text(f"run {found.run.run_id} ({when}), conversation {found.run.conversation_id}")
    for memory in found.memories:
        _show(memory)
    if not found.memories:
        print_text("No memories were found for it.")


def _show(memory: "ConsideredMemory") -> None:
    considered = memory.considered
    place = f"{considered.rank}." if considered.rank else "-"
    said = f" ({memory.timestamp:%Y-%m-%d %H:%M})" if memory.timestamp else ""
    tier = _TIERS.get(considered.tier, considered.tier)
    print_text(f"{place} {tier}{said}: {_SHOWN[considered.shown]}", style="bold")
    if considered.shown != "in-entry":
        content = memory.content if memory.content is not None else "forgotten or expired since"
        print_text(indent(content, _MARGIN, lambda _: True))
    reasons = [found_by(considered.legs)] if considered.legs else []
    reasons += [f"score {considered.score:.2f}"] if considered.score is not None else []
    print_text(_MARGIN + "; ".join([*reasons, considered.id]), style="dim")


def _as_json(found: "Why") -> dict[str, object]:
    return {
        "run_id": found.run.run_id,
        "conversation_id": found.run.conversation_id,
        "question": found.run.question,
        "timestamp": found.run.timestamp.isoformat() if found.run.timestamp else None,
        "memories": [
            each.considered.model_dump(mode="json", exclude_none=True)
            | {
                "content": each.content,
                "timestamp": each.timestamp.isoformat() if each.timestamp else None,
            }
            for each in found.memories
        ],
    }
