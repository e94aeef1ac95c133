"""`fourtier research`: the steps as they come, the evidence, and the exit code."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.runtime.rpc.routes import Route, call_route, stream_route
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.researcher import (
    RESEARCH,
    Evidence,
    Note,
    PlannedSearch,
    Receipt,
    ResearchProgress,
    ResearchRequest,
)
from fourtier.schema.status import StatusCall, StatusRequest, StatusResponse, status_of
from tests.interfaces.cli.support import Command

HOSTILE = "\x1b[2JThe roof was repaired."
ENTRY = ArchiveEntry(
    id="e1",
    page_id="p1",
    source="c1",
    speaker="Mia",
    content=HOSTILE,
    timestamp=datetime(2026, 3, 1, tzinfo=UTC),
)
RECEIPT = Receipt(
    stopped="nothing-new", rounds=1, searches=2, entries=9, tokens=40, cut=3, milliseconds=12.3
)


BY_MODEL = RECEIPT.model_copy(
    update={
        "method": "llm",
        "stopped": "max-completions",
        "degraded": {"plan": "no \x1b answer", "working-memory": "it is full"},
        "completions": 4,
        "in_token": 40,
        "out_token": 20,
        "resumed": 2,
    }
)


async def _status(_request: StatusRequest) -> StatusResponse:
    return StatusResponse(version="0.1.0", started_at=ENTRY.timestamp)


HERE = call_route(status_of("researcher"), _status)


def researching(
    *evidence: Evidence, receipt: Receipt = RECEIPT, asked: list[ResearchRequest] | None = None
) -> Route:
    async def run(request: ResearchRequest) -> AsyncIterator[ResearchProgress]:
        if asked is not None:
            asked.append(request)
        first = PlannedSearch(query=request.question)
        second = PlannedSearch(query="Engen flat", name="Torvald Engen", entry_id="e0")
        third = PlannedSearch(query="Ida flat", name="Ida", fact_id="f7", mentioned_with="Engen")
        yield ResearchProgress(step="plan", round=1, searches=(first, second, third))
        yield ResearchProgress(step="hits", round=1, found=12, new=9)
        note = Note(entry_id="e1", speaker="Mia", quote=HOSTILE)
        yield ResearchProgress(step="notes", round=1, notes=(note,))
        yield ResearchProgress(step="check", round=1, covered=("roof",), missing=("flat",))
        yield ResearchProgress(step="end", round=1, evidence=evidence, receipt=receipt)

    return stream_route(RESEARCH, run)


FOUND = Evidence(
    entry=ENTRY, score=1.5, round=1, covers=("roof",), linked_to="e0", link="Torvald Engen"
)


def test_the_steps_and_the_evidence_are_printed(fourtier: Command) -> None:
    fourtier.routes = [HERE, researching(FOUND)]
    assert fourtier("research", "Whose flat?", "--user", "ann") == 0
    lines = fourtier.out.splitlines()
    assert "  search: Whose flat?" in lines
    assert "  search: Engen flat (follows Torvald Engen)" in lines
    assert "  search: Ida flat (follows Ida, mentioned with Engen in fact f7)" in lines
    assert "  found: 12 entries, 9 of them new" in lines
    assert "  words of the question: found roof; missing flat" in lines
    assert "1. Mia (2026-03-01 00:00), c1" in lines
    assert "   \\x1b[2JThe roof was repaired." in lines
    assert "   round 1; has roof; shares Torvald Engen with an entry before it; e1" in lines
    assert lines[-1] == (
        "1 round, 2 searches, 9 entries seen, 40 tokens, 3 left out for the sake of the tokens, "
        "12 ms, by rule: there is nothing new to follow."
    )
    assert "\x1b" not in fourtier.out


def test_an_entry_that_a_fact_has_led_to_names_the_fact(fourtier: Command) -> None:
    led = FOUND.model_copy(update={"linked_to": "", "link": "Ida", "fact_id": "f7"})
    fourtier.routes = [HERE, researching(led)]
    assert fourtier("research", "Whose flat?", "--user", "ann") == 0
    assert "round 1; has roof; shares Ida with fact f7; e1" in fourtier.said


def test_what_the_model_did_is_in_the_receipt(fourtier: Command) -> None:
    asked: list[ResearchRequest] = []
    fourtier.routes = [HERE, researching(FOUND, receipt=BY_MODEL, asked=asked)]
    assert fourtier("research", "Whose flat?", "--user", "ann", "--method", "llm") == 0
    assert [each.method for each in asked] == ["llm"]
    lines = fourtier.out.splitlines()
    assert lines[-3] == "plan went by rule: no \\x1b answer"
    assert lines[-2] == "working-memory was left out: it is full"
    assert lines[-1].endswith(
        "12 ms, by the model in 4 completions of 60 tokens, plan by rule, resumed 2 times: "
        "the model was asked as often as it may be."
    )


def test_needs_and_notes_of_the_model_are_printed(fourtier: Command) -> None:
    async def run(request: ResearchRequest) -> AsyncIterator[ResearchProgress]:
        assert request.method is None
        yield ResearchProgress(step="plan", round=1, info_needs=("Who was it?",))
        note = Note(entry_id="e1", speaker="Mia", content="Engen repaired it.")
        yield ResearchProgress(step="notes", round=1, notes=(note,))
        yield ResearchProgress(step="end", round=1, evidence=(FOUND,), receipt=BY_MODEL)

    fourtier.routes = [HERE, stream_route(RESEARCH, run)]
    assert fourtier("research", "Whose flat?", "--user", "ann") == 0
    assert "  wanted: Who was it?" in fourtier.out.splitlines()
    assert "  note: Engen repaired it." in fourtier.out.splitlines()


def test_nothing_found_is_said_and_exits_with_1(fourtier: Command) -> None:
    fourtier.routes = [HERE, researching()]
    assert fourtier("research", "Whose flat?", "--user", "ann") == 1
    assert "Nothing found in the archive of ann/default." in fourtier.err


def test_json_is_the_last_step_and_nothing_else(fourtier: Command) -> None:
    fourtier.routes = [HERE, researching(FOUND)]
    assert fourtier("research", "Whose flat?", "--user", "ann", "--json") == 0
    printed = json.loads(fourtier.out)
    assert printed["evidence"][0]["entry"]["id"] == "e1"
    assert printed["receipt"]["stopped"] == "nothing-new"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["research", "", "--user", "ann"], "question: String should have at least 1 character"),
        (["research", "Whose?", "--rounds", "9"], "--rounds"),
        (["research", "Whose?", "--tokens", "5"], "--tokens"),
        (["research", "Whose?", "--method", "magic"], "--method"),
    ],
)
def test_a_wrong_argument_is_named(fourtier: Command, arguments: list[str], said: str) -> None:
    fourtier.routes = [HERE, researching()]
    assert fourtier(*arguments) == 2
    assert said in fourtier.said.replace("│ ", "").replace(" │", "")


def test_without_a_researcher_it_is_said_within_seconds(
    fourtier: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def soon(service: str) -> StatusCall:
        return replace(status_of(service), deadline=0.2)

    monkeypatch.setattr("fourtier.schema.status.status_of", soon)
    asked: list[ResearchRequest] = []
    fourtier.routes = [researching(FOUND, asked=asked)]
    assert fourtier("research", "Whose flat?", "--user", "ann") == 1
    assert "no answer on researcher.status within 0.2 seconds" in fourtier.said
    without = tmp_path / "without.yaml"
    without.write_text("name: without\nservices: {archive: {}}\n", "utf-8")
    assert fourtier("research", "Whose flat?", "--user", "ann", "--flow", str(without)) == 1
    assert f"the flow {without} has no service researcher: add it" in fourtier.said
    assert asked == []
