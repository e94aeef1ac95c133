"""Research end to end: bus, embeddings, archive and researcher, all real."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.schema.archive import OPT_OUT_ARCHIVE
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OptOutRequest
from fourtier.schema.researcher import ResearchProgress
from tests.agents.researcher.model import ENOUGH, Played, handle_of, note, notes, plan
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import Calls, ModelRequest, Reply, Says, Script, scripted_model
from tests.support.waiting import wait_until

SERVICES: dict[str, dict[str, Any]] = {
    "embeddings": {},
    "archive": {},
    "researcher": {},
    "working-memory": {},
}
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
#: Two of them answer the question together; what follows has more of its words than the second.
SAID = [
    "The roof of the boathouse was repaired by Torvald Engen.",
    "My cousin repaired a roof and a fence, what a lot of work.",
    "Which telephone do you have? Mine is old.",
    "The boathouse is locked in winter.",
    "A telephone was found near the boathouse, whose is it?",
    "I left my number at the reception, somebody lives there.",
    "Engen moved away, Torvald Engen has a flat in Bodø since May.",
    "The garden needs water.",
]
QUESTION = "In which town is the flat of the man who repaired the roof of the boathouse?"


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES, bus="embedded") as running:
        yield running


async def archive(flow: RunningFlow, client: Client, user: str, *said: str) -> None:
    for number, content in enumerate(said):
        turn = DialogueTurn(
            user=user,
            conversation_id=f"c{number}",  # alone, so that no neighbour is found with it
            speaker="Mia",
            content=content,
            timestamp=START + timedelta(days=number),
            turn_id=f"{user}-{number}",
        )
        await flow.caller.publish(DIALOGUE_RECORDED, turn)

    async def searchable() -> bool:
        found = await client.archive.search(Scope(user, "default"), "anything", top_k=50)
        return len(found.hits) == len(said)

    await wait_until(searchable)


async def research(client: Client, question: str, **arguments: Any) -> ResearchProgress:
    steps = [step async for step in client.research(question, user="ann", **arguments)]
    assert [step.step for step in steps].count("end") == 1
    return steps[-1]


@pytest.mark.cluster
async def test_a_question_of_two_steps_is_followed_by_the_name_between_them(
    flow: RunningFlow,
) -> None:
    async with client_on(flow.bus) as client:
        await archive(flow, client, "ann", *SAID)
        await archive(flow, client, "bob", "Torvald Engen has a flat in Narvik, a secret of Bob's.")
        end = await research(client, QUESTION, max_evidence=2)

    assert [each.entry.content for each in end.evidence] == [SAID[0], SAID[6]]
    assert end.evidence[1].link in {"Torvald Engen", "Engen"}
    assert end.evidence[1].linked_to == end.evidence[0].entry.id
    assert end.receipt is not None
    assert end.receipt.stopped != "deadline"


async def test_nothing_is_handed_over_of_a_user_who_has_opted_out(flow: RunningFlow) -> None:
    async with client_on(flow.bus) as client:
        await archive(flow, client, "ann", *SAID)
        await flow.caller.call(OPT_OUT_ARCHIVE, OptOutRequest(user="ann", opted_out=True))
        end = await research(client, QUESTION)

    assert end.opted_out
    assert end.evidence == ()


async def test_an_empty_archive_has_no_evidence(flow: RunningFlow) -> None:
    async with client_on(flow.bus) as client:
        end = await research(client, QUESTION)
    assert end.evidence == ()
    assert end.receipt is not None
    assert end.receipt.stopped == "nothing-new"


def plays_the_roles(played: Played) -> Script:
    """Answers of the agent, which calls no tool, and the roles of research."""
    return lambda request: played(request) if request.schema else Says("In Bodø.")


def found_out(request: ModelRequest) -> Reply:
    """What of the entries shown answers the question, and an invention beside it."""
    return notes(
        note("Torvald Engen repaired the roof.", handle_of(request, "repaired by")),
        note("Torvald Engen has a flat in Bodø.", handle_of(request, "has a flat in")),
        note("Torvald Engen has a flat in Narvik.", handle_of(request, "has a flat in")),
    )


async def test_a_model_finds_what_a_question_needs_and_only_where_it_is_wanted(
    tmp_path: Path,
) -> None:
    wanted = plan(vector_queries=["Somebody repaired the roof of the boathouse."])
    played = Played(plan=wanted, integrate=found_out, check=ENOUGH)
    services = {**SERVICES, "completion": {"attempts": 1}}
    async with (
        scripted_model(script=played) as model,
        running_flow(tmp_path, services, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await archive(flow, client, "ann", *SAID)
        await archive(flow, client, "bob", "Torvald Engen has a flat in Narvik, a secret of Bob's.")
        by_rule = await research(client, QUESTION, method="rule")
        assert played.roles == []
        end = await research(client, QUESTION, max_evidence=2)

    assert by_rule.receipt is not None
    assert by_rule.receipt.method == "rule"
    assert played.roles == ["plan", "integrate", "check"]
    assert "Bob" not in "".join(played.shown("integrate"))
    assert {each.entry.content for each in end.evidence} == {SAID[0], SAID[6]}
    assert {text for each in end.evidence for text in each.notes} == {
        "Torvald Engen repaired the roof.",
        "Torvald Engen has a flat in Bodø.",
    }
    assert end.receipt is not None
    assert (end.receipt.method, end.receipt.searches, end.receipt.degraded) == ("llm", 2, {})


async def test_a_flow_without_a_model_researches_by_rule_and_says_so(tmp_path: Path) -> None:
    services = {**SERVICES, "researcher": {"completion-seconds": 0.5}}
    async with (
        running_flow(tmp_path, services, bus="embedded") as flow,
        client_on(flow.bus) as client,
    ):
        await archive(flow, client, "ann", *SAID)
        end = await research(client, QUESTION, method="llm", max_evidence=2)

    assert [each.entry.content for each in end.evidence] == [SAID[0], SAID[6]]
    assert end.receipt is not None
    assert end.receipt.degraded["plan"] == "no answer within 0.5 seconds"


@pytest.mark.parametrize(
    ("mode", "roles"), [("auto", []), ("deep", ["plan", "integrate", "check"])]
)
async def test_only_a_deep_research_of_a_run_asks_the_model(
    tmp_path: Path, mode: Any, roles: list[str]
) -> None:
    played = Played(integrate=found_out, check=ENOUGH)
    async with (
        scripted_model(script=plays_the_roles(played)) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await archive(flow, client, "ann", *SAID)
        reply = await client.answer(QUESTION, user="ann", research=mode)

    assert played.roles == roles
    assert reply.metadata.research is not None
    assert reply.metadata.research.method == ("llm" if roles else "rule")
    assert {SAID[0], SAID[6]} <= {each.content for each in reply.metadata.memories}


def asks_memory(request: ModelRequest) -> Says | Calls:
    if any(message["role"] == "tool" for message in request.messages):
        return Says("In Bodø.")
    return Calls("research_memory", {"question": QUESTION})


@pytest.mark.cluster
async def test_the_agent_researches_before_it_answers_and_by_its_tool(tmp_path: Path) -> None:
    services = {**ROAD, "agent": {"research": "auto"}, "researcher": {"method": "rule"}}
    async with (
        scripted_model(script=asks_memory) as model,
        running_flow(
            tmp_path,
            services,
            bus="embedded",
            settings=model.settings,
        ) as flow,
        client_on(flow.bus) as client,
    ):
        await archive(flow, client, "ann", *SAID)
        reply = await client.answer(QUESTION, user="ann", research="deep")
        other = await client.answer("Where is the telephone?", user="ann", research="off")

    used = {memory.content for memory in reply.metadata.memories if memory.tier == "archive"}
    assert {SAID[0], SAID[6]} <= used
    assert reply.metadata.research is not None
    assert reply.metadata.research.searches > 1
    assert other.metadata.research is None
    (step,) = reply.metadata.steps[:1]
    assert step.action == "research_memory"
    assert SAID[6] in step.observation
