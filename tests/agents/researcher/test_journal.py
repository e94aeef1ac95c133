"""A research that is interrupted anywhere ends as if it had not been, and asks nothing twice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.agents.researcher.checkpoint import Checkpoint
from fourtier.agents.researcher.journal import Journal, Recovered
from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.research import Research
from fourtier.agents.researcher.role_choice import RoleChoice
from fourtier.runtime.settings import Settings
from fourtier.schema.researcher import Receipt, ResearchProgress, ResearchRequest
from tests.agents.researcher.model import ENOUGH, NOT_ENOUGH, Played, note, notes
from tests.agents.researcher.test_research import Archive
from tests.agents.researcher.test_research_by_model import (
    FAST,
    FLAT,
    FOUND,
    LIVES,
    OTHERS,
    QUESTION,
    REPAIRED,
    ROOF,
    TWO_ROUNDS,
)
from tests.support.flow import running_flow
from tests.support.model import Fails, ModelRequest, Reply, Script, scripted_model

ENTRIES = {hit.entry.id: hit.entry for hit in (ROOF, FLAT, *OTHERS)}
ROLES = ["plan", "integrate", "check", "follow_up", "integrate", "check"]


class Resumable:
    """Researches whose states are kept in a list, as JSON."""

    def __init__(self, choice: RoleChoice) -> None:
        self._choice = choice
        self.states: list[str] = []

    async def run(
        self, archive: Archive, after: str = "", **request: Any
    ) -> list[ResearchProgress]:
        """Go on from a state; from none at all begin."""
        self.states = []
        asked = ResearchRequest(user="ann", question=QUESTION, **request)
        roles, budget = self._choice.of(asked)
        recovered = None
        if after:
            checkpoint = Checkpoint.model_validate_json(after)
            recovered = Recovered(checkpoint, ENTRIES)
            budget.take_up(checkpoint, resumed=True)
        journal = Journal(budget, recovered, self._keep)
        return [s async for s in Research(asked, archive, roles, budget, journal).steps()]

    async def _keep(self, checkpoint: Checkpoint) -> None:
        self.states.append(checkpoint.model_dump_json())


@asynccontextmanager
async def retained(tmp_path: Path, script: Script, **parameters: Any) -> AsyncGenerator[Resumable]:
    async with (
        scripted_model(script=script) as model,
        running_flow(tmp_path, FAST, settings=model.settings) as flow,
    ):
        settings = Settings(**model.settings)
        # The flow has no archive: no research waits for its memos.
        chosen = ResearcherParameters(**{"memo_tokens": 0, **parameters})
        yield Resumable(RoleChoice(flow.caller, settings, chosen))


def end_of(steps: list[ResearchProgress]) -> tuple[Any, Receipt]:
    """Evidence and receipt, without what depends on when it ran."""
    assert [each.step for each in steps].count("end") == 1
    receipt = steps[-1].receipt
    assert receipt is not None
    return steps[-1].evidence, receipt.model_copy(update={"milliseconds": 0.0, "resumed": 0})


async def test_from_every_state_it_goes_on_with_the_next_role_to_the_same_end(
    tmp_path: Path,
) -> None:
    played = Played(**TWO_ROUNDS)
    script = lambda request: played(request)  # noqa: E731, PLW0108 - it is another one later
    async with retained(tmp_path, script) as research:
        whole = await research.run(Archive(FOUND))
        assert played.roles == ROLES
        states = research.states
        assert len(states) == len(ROLES) + 1, "one for each role, and the end"

        delivered = [0, 2, 3, 4, 6, 7]  # steps before that of the role which was kept last
        for number, state in enumerate(states[:-1]):
            played = Played(**_from(number + 1))
            archive = Archive(FOUND)
            rest = await research.run(archive, after=state)
            assert played.roles == ROLES[number + 1 :]
            assert end_of(rest) == end_of(whole)
            assert rest[-1].receipt is not None
            assert rest[-1].receipt.resumed == 1
            assert [each.step for each in rest] == [
                each.step for each in whole[delivered[number] :]
            ]
            assert rest[0] == whole[delivered[number]]
            asked = {each.query for each in archive.asked}
            assert (QUESTION in asked) is (number == 0), "what was found is not searched for again"


def _from(number: int) -> dict[str, Any]:
    """What the roles answer from that role on; what they rest on has new handles then."""
    if number <= 1:
        return TWO_ROUNDS
    return TWO_ROUNDS | {
        "integrate": _second_round,
        "check": [NOT_ENOUGH, ENOUGH] if number == 2 else ENOUGH,
    }


def _second_round(request: ModelRequest) -> Reply:
    """The note that is shown is written again with the handle that is shown beside it."""
    assert f"- {REPAIRED} [E1]" in request.last
    flat = next(line for line in request.last.splitlines() if "a flat in" in line)
    return notes(note(REPAIRED, "E1"), note(LIVES, flat.split()[1]))


@pytest.mark.parametrize("role", ["plan", "integrate", "check", "follow_up"])
async def test_a_role_that_went_by_rule_does_so_after_an_interruption(
    tmp_path: Path, role: str
) -> None:
    played = Played(**TWO_ROUNDS | {role: Fails(500)})
    script = lambda request: played(request)  # noqa: E731, PLW0108 - it is another one later
    async with retained(tmp_path, script) as research:
        await research.run(Archive(FOUND))
        state = next(each for each in research.states if role in _degraded(each))
        rounds = [_second_round] if role in {"check", "follow_up"} else TWO_ROUNDS["integrate"]
        played = Played(**TWO_ROUNDS | {"integrate": rounds})
        rest = await research.run(Archive(FOUND), after=state)
    assert role not in played.roles
    assert rest[-1].receipt is not None
    assert list(rest[-1].receipt.degraded) == [role]


def _degraded(state: str) -> dict[str, str]:
    return Checkpoint.model_validate_json(state).degraded


async def test_a_round_that_was_planned_is_made_though_completions_and_time_are_over(
    tmp_path: Path,
) -> None:
    played = Played(**TWO_ROUNDS)
    async with retained(tmp_path, played, max_completions=4) as research:
        await research.run(Archive(FOUND))
        state = Checkpoint.model_validate_json(research.states[3])
        assert (len(state.rounds), state.completions) == (2, 4)
        late = state.model_copy(update={"milliseconds": 90_000.0})
        rest = await research.run(Archive(FOUND), after=late.model_dump_json())
    assert played.roles == ROLES[:4]
    evidence, receipt = end_of(rest)
    assert "flat" in {each.entry.id for each in evidence}
    assert receipt.rounds == 2


async def test_the_time_that_it_took_before_counts(tmp_path: Path) -> None:
    played = Played(**TWO_ROUNDS | {"check": NOT_ENOUGH})
    async with retained(tmp_path, played) as research:
        await research.run(Archive(FOUND))
        state = Checkpoint.model_validate_json(research.states[2])
        late = state.model_copy(update={"milliseconds": 90_000.0})
        rest = await research.run(Archive(FOUND), after=late.model_dump_json())
    _, receipt = end_of(rest)
    assert (receipt.stopped, receipt.rounds) == ("deadline", 1)
    assert rest[-1].receipt is not None
    assert rest[-1].receipt.milliseconds >= 90_000


async def test_a_checkpoint_has_no_content_of_an_entry(tmp_path: Path) -> None:
    played = Played(**TWO_ROUNDS)
    async with retained(tmp_path, played) as research:
        await research.run(Archive(FOUND))
        states = "".join(research.states)
    assert REPAIRED in states, "notes are the model's own words"
    assert not any(entry.content in states for entry in ENTRIES.values())
