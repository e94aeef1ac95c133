"""A researcher that is killed: the next one goes on, without what was forgotten meanwhile."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.schema.archive import ERASE_ARCHIVE, OPT_OUT_ARCHIVE
from fourtier.schema.erasure import ERASE_WORKING_MEMORY, EraseRequest
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OPT_OUT_WORKING_MEMORY, OptOutRequest
from fourtier.schema.researcher import ResearchProgress
from fourtier.schema.status import StatusRequest, status_of
from fourtier.schema.working_memory import APPEND_WORKING_MEMORY, RESEARCH_STATE
from tests.agents.researcher.interrupted import Blocked, Killable, killable, reached, steps_of
from tests.agents.researcher.model import (
    ENOUGH,
    NOT_ENOUGH,
    Played,
    handle_of,
    note,
    notes,
    plan,
    requests,
)
from tests.agents.researcher.test_researcher_service import QUESTION, archive
from tests.support.flow import running_flow
from tests.support.listening import listening
from tests.support.model import ModelRequest, Reply, scripted_model

ANN = Scope("ann", "default")
REPAIRED, LIVES = "Torvald Engen repaired the roof.", "Torvald lives in Bodø."
ROLES = ["plan", "integrate", "check", "follow_up", "integrate", "check"]
ROOF = "The roof of the boathouse was repaired by Torvald Engen."
#: Found only by what the model follows up with: so many others are nearer to the question.
FLAT = "He moved away, Torvald lives in Bodø since May."
SAID = [
    ROOF,
    FLAT,
    *(f"The man who repaired roof {n} of a boathouse has a flat in the town." for n in range(45)),
]


def integrate(request: ModelRequest) -> Reply:
    """Notes of what is shown, with those that were there before."""
    written = []
    if (before := f"- {REPAIRED} [") in request.last:
        written.append(note(REPAIRED, request.last.split(before)[1].split("]")[0]))
    elif ROOF in request.last:
        written.append(note(REPAIRED, handle_of(request, "repaired by")))
    if FLAT in request.last:
        written.append(note(LIVES, handle_of(request, "lives in")))
    return notes(*written)


TWO_ROUNDS: dict[str, Any] = {
    "plan": plan(info_needs=["Who repaired the roof?"], keyword_collection=["boathouse Engen"]),
    "integrate": integrate,
    "check": [NOT_ENOUGH, ENOUGH],
    "follow_up": requests("Where does Torvald live?"),
}


def goes_on(number: int) -> Played:
    """What the roles answer from the completion of that number on."""
    checked = [NOT_ENOUGH, ENOUGH] if number <= 2 else ENOUGH
    return Played(**TWO_ROUNDS | {"check": checked})


async def killed_at(
    running: Killable, blocked: Blocked, number: int, between: Any = None, **arguments: Any
) -> list[ResearchProgress]:
    """The steps of a research whose researcher is killed in the completion of that number."""
    blocked.at = {number}
    asking = asyncio.create_task(steps_of(running.client, QUESTION, **arguments))
    await reached(blocked)
    await running.kill("researcher")
    if between is not None:
        await between()
    blocked.played = goes_on(number)
    await running.start("researcher")
    return await asking


@pytest.mark.parametrize("number", range(6))
async def test_a_researcher_that_is_killed_asks_the_model_nothing_again_that_it_has_answered(
    tmp_path: Path, number: int
) -> None:
    first = Played(**TWO_ROUNDS)
    blocked = Blocked(first)
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)
        steps = await killed_at(running, blocked, number)

    assert first.roles == ROLES[: number + 1]
    assert blocked.played.roles == ROLES[number:], "only the completion under way is made again"
    reported = [(each.round, each.step) for each in steps]
    assert len(reported) == len(set(reported)), "no step is told twice"
    assert reported == [
        *((1, step) for step in ("plan", "hits", "notes", "check")),
        *((2, step) for step in ("plan", "hits", "notes", "check")),
        (2, "end"),
    ]
    receipt = steps[-1].receipt
    assert receipt is not None
    assert (receipt.completions, receipt.in_token, receipt.out_token) == (6, 60, 30)
    assert (receipt.stopped, receipt.rounds, receipt.degraded) == ("enough", 2, {})
    assert receipt.resumed == (1 if number else 0)
    assert {ROOF, FLAT} <= {each.entry.content for each in steps[-1].evidence}
    assert {each for found in steps[-1].evidence for each in found.notes} == {REPAIRED, LIVES}


async def test_how_often_it_was_killed_is_counted_also_in_one_and_the_same_completion(
    tmp_path: Path,
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS), at={2})
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)
        asking = asyncio.create_task(steps_of(running.client, QUESTION))
        for again in (True, True, False):
            await reached(blocked)
            await running.kill("researcher")
            blocked.played = goes_on(2)
            blocked.at = {0} if again else set()
            await running.start("researcher")
        steps = await asking
    assert steps[-1].receipt is not None
    assert (steps[-1].receipt.resumed, steps[-1].receipt.completions) == (3, 6)


async def test_what_was_forgotten_meanwhile_is_neither_evidence_nor_in_a_note(
    tmp_path: Path,
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS))
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)

        async def forget() -> None:
            erased = await running.client.archive.search(ANN, "Torvald Engen roof", top_k=1)
            assert erased.hits[0].entry.content == ROOF
            page = erased.hits[0].entry.source
            await _erase_from_archive(running, page)

        # Only the archive has forgotten: working memory was not asked, and still has the notes.
        steps = await killed_at(running, blocked, 4, between=forget)

    end = steps[-1]
    assert blocked.played.roles[0] == "plan", "it begins anew"
    assert REPAIRED not in "".join(blocked.played.shown("integrate"))
    assert ROOF not in {each.entry.content for each in end.evidence}
    assert REPAIRED not in "".join(each for found in end.evidence for each in found.notes)
    assert end.receipt is not None
    assert end.receipt.resumed == 0
    assert end.receipt.completions == 4 + len(blocked.played.roles), "what was spent is spent"


async def _erase_from_archive(running: Killable, conversation_id: str) -> None:
    erased = await running.flow.caller.call(
        ERASE_ARCHIVE, EraseRequest(user="ann", conversation_id=conversation_id)
    )
    assert erased.number == 1


async def test_a_research_that_has_ended_is_told_again_without_what_was_forgotten(
    tmp_path: Path,
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS))
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)
        first = await steps_of(running.client, QUESTION, research_id="r1")
        again = await steps_of(running.client, QUESTION, research_id="r1")
        assert again == first[-1:]
        assert blocked.played.roles == ROLES

        source = next(e.entry.source for e in first[-1].evidence if e.entry.content == FLAT)
        await _erase_from_archive(running, source)
        (less,) = await steps_of(running.client, QUESTION, research_id="r1")
        assert blocked.played.roles == ROLES
        retained = [each for each in first[-1].evidence if each.entry.content != FLAT]
        assert [each.entry for each in less.evidence] == [each.entry for each in retained]
        assert LIVES not in "".join(each for found in less.evidence for each in found.notes)

        await steps_of(running.client, f"{QUESTION} And where?", research_id="r1")
        assert len(blocked.played.roles) > len(ROLES), "another question is another research"


async def stored_items(running: Killable) -> int:
    """How many items working memory has; no run of an agent has any here."""
    status = await running.flow.caller.call(status_of("working-memory"), StatusRequest())
    return sum(each.number for each in status.store_counts if "items" in each.kind)


async def test_a_user_who_has_opted_out_meanwhile_gets_nothing_and_nothing_stays(
    tmp_path: Path,
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS))
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)

        async def opt_out() -> None:
            assert await stored_items(running) == 1
            for call in (OPT_OUT_ARCHIVE, OPT_OUT_WORKING_MEMORY):
                await running.flow.caller.call(call, OptOutRequest(user="ann", opted_out=True))
            assert await stored_items(running) == 0

        steps = await killed_at(running, blocked, 4, between=opt_out, research_id="r1")
        assert (steps[-1].opted_out, steps[-1].evidence) == (True, ())
        assert await stored_items(running) == 0


async def test_forgetting_deletes_the_checkpoint_and_the_research_begins_anew(
    tmp_path: Path,
) -> None:
    blocked = Blocked(Played(**TWO_ROUNDS))
    async with killable(tmp_path, blocked, "researcher") as running:
        await archive(running.flow, running.client, "ann", *SAID)

        async def forget() -> None:
            erase = EraseRequest(user="ann", containing=("something else",))
            answered = await running.flow.caller.call(ERASE_WORKING_MEMORY, erase)
            assert answered.number == 0, "a research does not count as a run"
            assert await stored_items(running) == 0

        steps = await killed_at(running, blocked, 4, between=forget)
        assert await stored_items(running) == 0, "what was under way then is not kept any more"
    assert blocked.played.roles[0] == "plan"
    assert steps[-1].receipt is not None
    assert steps[-1].receipt.resumed == 0


async def test_a_research_by_rule_is_kept_nowhere(tmp_path: Path) -> None:
    played = Played(**TWO_ROUNDS)
    async with (
        killable(tmp_path, Blocked(played), "researcher") as running,
        listening(running.flow.bus, APPEND_WORKING_MEMORY.topic) as written,
    ):
        await archive(running.flow, running.client, "ann", *SAID)
        await steps_of(running.client, QUESTION, method="rule")
        await steps_of(running.client, QUESTION, method="llm")
        first = await written.next()
    assert first.run_id.startswith(RESEARCH_STATE)
    (item,) = first.items
    assert item.metadata["completions"] == 1, "the first that is written is the model's plan"


async def test_without_working_memory_a_research_goes_on_and_says_so(tmp_path: Path) -> None:
    services = {
        "embeddings": {},
        "completion": {"attempts": 1},
        "archive": {},
        "researcher": {"working-memory-seconds": 0.5},
    }
    async with (
        scripted_model(script=Blocked(Played(**TWO_ROUNDS))) as model,
        running_flow(tmp_path, services, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await archive(flow, client, "ann", *SAID)
        steps = await steps_of(client, QUESTION)
    assert steps[-1].receipt is not None
    assert steps[-1].receipt.degraded == {"working-memory": "no answer within 0.5 seconds"}
    assert steps[-1].receipt.completions == 6
    assert {ROOF, FLAT} <= {each.entry.content for each in steps[-1].evidence}
