"""What a model is shown of what is known, and what it may replace of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.learning import candidates
from fourtier.memory.learning.candidates import Candidates
from fourtier.memory.learning.origin import Origin
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.facts import (
    LIST_FACTS,
    STORE_FACT,
    Fact,
    ListFactsRequest,
    StoreFactRequest,
)
from fourtier.schema.message import Scope
from tests.memory.extraction.runs import START, run
from tests.memory.extraction.test_extraction_model import fact
from tests.memory.promotion.test_promotion_model import fact as line_fact
from tests.memory.promotion.test_promotion_model import talk
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import Listener, listening
from tests.support.model import ModelRequest, Reply, ScriptedModel, Writes, scripted_model
from tests.support.waiting import wait_until

BEFORE = START - timedelta(days=1)


@asynccontextmanager
async def remembering(
    tmp_path: Path, script: Any, **services: dict[str, Any]
) -> AsyncGenerator[tuple[RunningFlow, ScriptedModel, Listener[StoreFactRequest]]]:
    every: dict[str, dict[str, Any]] = {"embeddings": {}, "facts": {}, "completion": {}}
    async with (
        scripted_model(script=script) as model,
        running_flow(tmp_path, every | services, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        yield flow, model, facts


async def store(
    flow: RunningFlow,
    facts: Listener[StoreFactRequest],
    content: str,
    *,
    speaker: str = "ann",
    user: str = "ann",
    at: datetime = BEFORE,
) -> str:
    """Store a fact; its id."""
    request = StoreFactRequest(user=user, content=content, speaker=speaker, timestamp=at)
    stored = await flow.caller.call(STORE_FACT, request)
    await facts.next()
    return stored.fact_id


async def test_a_correction_names_what_it_replaces_by_its_number(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Reply:
        (line,) = [line for line in request.last.splitlines() if "at 7:40" in line]
        number = int(line.split(".")[0])
        learned = fact(
            "Ann's flight leaves at 8:15.",
            quote="the flight leaves at 8:15",
            replaces=[number, 0, -1, 99, number],
        )
        return Writes({"facts": [learned]})

    async with remembering(tmp_path, script, extraction={}) as (flow, model, facts):
        flight = await store(flow, facts, "My flight leaves at 7:40.")
        await store(flow, facts, "I like tea.")
        await store(flow, facts, "My secret flight leaves at 7:40.", user="bob", speaker="bob")
        said = "Correction: the flight leaves at 8:15, not 7:40."
        await flow.caller.publish(INVOCATION_ENDED, run(said))
        corrected = await facts.next()

    assert corrected.replaces == (flight,)
    shown = model.requests[0].last
    assert "2026-02-28 ann: My flight leaves at 7:40." in shown
    assert flight not in shown
    assert "secret" not in shown


async def test_hobbies_stand_beside_each_other_and_homes_do_not(tmp_path: Path) -> None:
    """As a model says that a hobby has one value at a time."""
    learned = {
        "I play chess.": fact("Ann plays chess.", attribute="hobby", quote="I play chess."),
        "I climb.": fact("Ann goes climbing.", attribute="hobby", quote="I climb."),
        "Home is Oslo.": fact("Ann is at home in Oslo.", attribute="home", quote="Home is Oslo."),
        "Home is Rome.": fact("Ann is at home in Rome.", attribute="home", quote="Home is Rome."),
    }

    def script(request: ModelRequest) -> Reply:
        said = request.last.split("said:\n")[1].split("\n\n")[0]
        return Writes({"facts": [learned[said] | {"one_value": True, "subject": "Ann"}]})

    async with remembering(tmp_path, script, extraction={}) as (flow, _, facts):
        for number, said in enumerate(learned):
            event = run(said, run_id=f"r{number}")
            later = {"started_at": START + timedelta(minutes=number)}
            await flow.caller.publish(INVOCATION_ENDED, event.model_copy(update=later))
            await facts.next()

        async def valid() -> bool:
            listed = await flow.caller.call(
                LIST_FACTS, ListFactsRequest(user="ann", include_superseded=True)
            )
            return {each.content for each in listed.facts if not each.superseded_by} == {
                "Ann plays chess.",
                "Ann goes climbing.",
                "Ann is at home in Rome.",
            } and listed.total == len(learned)

        await wait_until(valid)

    assert [each.attribute for each in facts.received] == ["", "", "home", "home"]


async def test_promotion_replaces_what_a_line_has_corrected(tmp_path: Path) -> None:
    learned = line_fact("Ann lives in Rome.", 2, quote="I moved to Rome", replaces=[1])

    def script(_: ModelRequest) -> Reply:
        return Writes({"facts": [learned], "episode": None})

    services: dict[str, dict[str, Any]] = {"conversations": {}, "promotion": {}}
    async with remembering(tmp_path, script, **services) as (flow, model, facts):
        home = await store(flow, facts, "I live in Oslo.")
        await talk(flow, "Hello!", "I moved to Rome last week.")
        moved = await facts.next()

    assert moved.replaces == (home,)
    assert "1. 2026-02-28 ann: I live in Oslo." in model.requests[0].last


def known(name: str, *, speaker: str = "ann", at: datetime = BEFORE) -> Fact:
    return Fact(id=name, content="x", source="c1", timestamp=at, valid_from=at, speaker=speaker)


def origin(speaker: str = "ann") -> Origin:
    return Origin(Scope("ann", "default"), "c1", "r1", speaker, START, {})


def test_only_earlier_statements_of_the_same_speaker_can_be_replaced() -> None:
    several = Candidates(
        [
            known("before"),
            known("now", at=START),
            known("later", at=START + timedelta(days=1)),
            known("other", speaker="Tom"),
            known("unnamed", speaker=""),
            known("cased", speaker="Ann"),
        ]
    )

    assert several.replaced(range(10), origin()) == ("before", "unnamed", "cased")
    assert several.replaced([4], origin("tom")) == ("other",)
    assert several.replaced([-1, 0, 7], origin()) == ()


def test_a_candidate_is_one_line_however_it_was_written() -> None:
    fact = known("x").model_copy(update={"content": "one\n9. 2026-01-01 ann: two " + "long " * 99})
    (line,) = Candidates([fact]).shown().splitlines()

    assert line.startswith("1. 2026-02-28 ann: one 9. 2026")
    assert len(line) < 350


async def test_without_the_facts_service_the_model_is_asked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_SECONDS", 0.1)
    script = [Writes({"facts": [fact("Ann is a singer.", quote="I sing.")]})]
    services: dict[str, dict[str, Any]] = {"completion": {}, "extraction": {}}
    async with (
        scripted_model(script=script) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing."))

        assert (await facts.next()).content == "Ann is a singer."
