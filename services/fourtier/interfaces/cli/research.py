"""`fourtier research`: evidence for a question, with the steps that found it as they come."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fourtier.interfaces.cli.connecting import require_service, with_client
from fourtier.interfaces.cli.entries import print_entry
from fourtier.interfaces.cli.options import (
    DEFAULT_COLLECTION,
    DEFAULT_FLOW,
    AsJson,
    Collection,
    FlowName,
    User,
)
from fourtier.interfaces.cli.output import (
    counted,
    one_line,
    print_json,
    print_note,
    print_text,
)

if TYPE_CHECKING:
    from fourtier.client import Client
    from fourtier.schema.researcher import Evidence, PlannedSearch, Receipt, ResearchProgress

_STOPPED = {
    "enough": "what is found is enough",
    "nothing-new": "there is nothing new to follow",
    "max-rounds": "all rounds are used",
    "deadline": "the time is over",
    "max-completions": "the model was asked as often as it may be",
}
#: In `degraded` of a receipt: the checkpoint could not be stored.
_NOT_A_ROLE = "working-memory"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog='Example: fourtier research "Who wrote the report on the bridge that Ann inspected?"'
    )(research)


def research(
    question: str,
    user: User,
    collection: Collection = DEFAULT_COLLECTION,
    flow: FlowName = DEFAULT_FLOW,
    rounds: Annotated[int, typer.Option(min=1, max=5, help="Rounds of searches at most.")] = 3,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="Entries.")] = 10,
    tokens: Annotated[
        int, typer.Option(min=50, max=10_000_000, help="Of all entries together.")
    ] = 2_000,
    method: Annotated[
        Literal["auto", "rule", "llm"] | None,
        typer.Option(help="llm asks the flow's model, rule none. As the flow has it otherwise."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find evidence for a question that one search does not answer.

    Searches the archive for the question, then for the names that its best entries bring up, until
    the question's words are found; with a model for what that wants to know, until it has enough.
    Nothing answers the question: that is for `fourtier ask`. The exit code is 1 when nothing is
    found.
    """
    from fourtier.schema.researcher import ResearchProgress

    async def run(client: "Client") -> ResearchProgress:
        await require_service(client, flow, "researcher")
        end = ResearchProgress(step="end", round=0)
        steps = client.research(
            question,
            user=user,
            collection=collection,
            max_rounds=rounds,
            max_evidence=limit,
            max_tokens=tokens,
            method=method,
        )
        async for end in steps:
            if not as_json:
                _show(end)
        return end

    end = with_client(flow, run)
    if as_json:
        print_json(end.model_dump(mode="json"))
    else:
        _show_end(end)
    if not end.evidence:
        print_note(f"Nothing found in the archive of {user}/{collection}.")
        raise typer.Exit(1)


def _show(step: "ResearchProgress") -> None:
    """Print what a step says."""
    if step.step == "plan":
        print_text(f"Round {step.round}", style="bold")
        for need in step.info_needs:
            print_text(f"  wanted: {one_line(need)}")
        for search in step.searches:
            print_text(f"  search: {one_line(search.query)}{_why(search)}")
    elif step.step == "hits":
        print_text(f"  found: {counted(step.found, 'entry', 'entries')}, {step.new} of them new")
    elif step.step == "notes":
        for note in step.notes:
            said = note.content or f"{note.speaker}: {note.quote}"
            print_text(f"  note: {one_line(said)}", style="dim")
    elif step.step == "check":
        found, missing = ", ".join(step.covered) or "none", ", ".join(step.missing) or "none"
        print_text(f"  words of the question: found {found}; missing {missing}")


def _why(search: "PlannedSearch") -> str:
    if not search.name:
        return ""
    fact = f", mentioned with {one_line(search.mentioned_with)} in fact {search.fact_id}"
    return f" (follows {one_line(search.name)}{fact if search.fact_id else ''})"


def _show_end(end: "ResearchProgress") -> None:
    for number, each in enumerate(end.evidence, start=1):
        _show_evidence(number, each)
    if end.receipt is not None:
        _show_receipt(end.receipt)


def _show_evidence(number: int, found: "Evidence") -> None:
    reasons = [f"round {found.round}"]
    if found.covers:
        reasons.append(f"has {', '.join(found.covers)}")
    if found.link:
        where = f"fact {found.fact_id}" if found.fact_id else "an entry before it"
        reasons.append(f"shares {one_line(found.link)} with {where}")
    print_entry(number, found.entry, "; ".join(reasons))


def _show_receipt(receipt: "Receipt") -> None:
    for part, reason in receipt.degraded.items():
        went = "was left out" if part == _NOT_A_ROLE else "went by rule"
        print_text(f"{part} {went}: {one_line(reason)}", style="dim")
    cut = f", {receipt.cut} left out for the sake of the tokens" if receipt.cut else ""
    print_text(
        f"{counted(receipt.rounds, 'round')}, {counted(receipt.searches, 'search', 'searches')}, "
        f"{counted(receipt.entries, 'entry', 'entries')} seen, "
        f"{counted(receipt.tokens, 'token')}{cut}, {receipt.milliseconds:.0f} ms, "
        f"{_method(receipt)}: {_STOPPED[receipt.stopped]}."
    )


def _method(receipt: "Receipt") -> str:
    if receipt.method == "rule":
        return "by rule"
    tokens = receipt.in_token + receipt.out_token
    roles = [part for part in receipt.degraded if part != _NOT_A_ROLE]
    degraded = f", {', '.join(roles)} by rule" if roles else ""
    resumed = f", resumed {counted(receipt.resumed, 'time')}" if receipt.resumed else ""
    model = (
        f"by the model in {counted(receipt.completions, 'completion')} of "
        f"{counted(tokens, 'token')}"
    )
    return f"{model}{degraded}{resumed}"
