"""Names that facts mention together with known ones: when they are followed, and what they find."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourtier.agents.researcher import facts as reading
from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.facts import FactReader, Mentioning
from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.research import Research
from fourtier.agents.researcher.role_choice import RoleChoice
from fourtier.agents.researcher.roles_by_rule import RolesByRule
from fourtier.client import client_on
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.settings import Settings
from fourtier.schema.erasure import ERASE_FACTS
from fourtier.schema.facts import Fact, RetrieveFactsRequest, RetrieveFactsResponse
from fourtier.schema.message import Error, Scope
from fourtier.schema.researcher import MethodName, PlannedSearch, ResearchProgress, ResearchRequest
from tests.agents.researcher.entries import SAID_AT, turn
from tests.agents.researcher.test_research import Archive
from tests.agents.researcher.test_researcher_service import archive
from tests.support.erasing import erase
from tests.support.flow import running_flow

QUESTION = "Where does the wife of the man who repaired the boathouse work?"
REPAIRED = turn("repaired", "Torvald Engen repaired the boathouse.", 1.0)
PRACTICE = turn("practice", "Ingrid Solheim moved her practice to Bod\u00f8.", 4.0)
OTHERS = [turn(f"hill {each}", f"There are sheep, number {each}.", 0.05) for each in range(30)]


def fact(content: str, name: str = "f1", speaker: str = "ann") -> Fact:
    return Fact(
        id=name,
        content=content,
        source="c1",
        timestamp=SAID_AT,
        valid_from=SAID_AT,
        speaker=speaker,
    )


MARRIED = fact("The wife of Torvald Engen is Ingrid Solheim")


class Facts:
    """Gives the same facts whatever is asked, and knows by which names it was."""

    def __init__(self, *facts: Fact) -> None:
        self.facts = facts
        self.asked: list[Sequence[str]] = []

    async def __call__(self, names: Sequence[str]) -> Sequence[Fact]:
        self.asked.append(names)
        return self.facts


async def steps(
    found: Archive, mentioning: Mentioning | None, names: int = 4, **request: int
) -> list[ResearchProgress]:
    asked = ResearchRequest(user="ann", question=QUESTION, **request)
    roles = RolesByRule(mentioning, names)
    return [step async for step in Research(asked, found, roles, Budget(60)).steps()]


def by_facts(made: Sequence[ResearchProgress]) -> list[PlannedSearch]:
    return [each for step in made for each in step.searches if each.fact_id]


def found_by_name() -> Archive:
    """Knows Ingrid Solheim, whom no other entry names."""
    return Archive({QUESTION: [REPAIRED, *OTHERS], "Ingrid Solheim": [PRACTICE]})


async def test_a_fact_leads_to_a_name_that_no_entry_leads_to() -> None:
    alone = await steps(found_by_name(), None, max_evidence=5)
    assert "practice" not in {each.entry.id for each in alone[-1].evidence}

    facts = Facts(MARRIED)
    made = await steps(found_by_name(), facts, max_evidence=5)

    assert facts.asked[0] == ("Torvald Engen",)
    (search,) = by_facts(made)
    assert search == PlannedSearch(
        query="Ingrid Solheim man repaired boathouse work",
        kind="name",
        legs=("words",),
        name="Ingrid Solheim",
        fact_id="f1",
        mentioned_with="Torvald Engen",
    )
    evidence = {each.entry.id: each for each in made[-1].evidence}
    assert list(evidence)[:2] == ["repaired", "practice"]
    linked = evidence["practice"]
    assert (linked.link, linked.linked_to, linked.fact_id) == ("Ingrid Solheim", "", "f1")


async def test_an_entry_that_was_found_already_is_linked_by_the_fact_as_well() -> None:
    low = turn("practice", PRACTICE.entry.content, 0.0)
    found = {QUESTION: [REPAIRED, *OTHERS, low], "Ingrid Solheim": [PRACTICE]}
    alone = await steps(Archive(found), None, max_evidence=5)
    made = await steps(Archive(found), Facts(MARRIED), max_evidence=5)

    assert "practice" not in {each.entry.id for each in alone[-1].evidence}
    assert made[-1].evidence[1].entry.id == "practice"
    assert made[-1].evidence[1].fact_id == "f1"


async def test_an_entry_without_the_name_is_not_linked_by_the_fact() -> None:
    other = turn("other", "Somebody moved to Bod\u00f8.", 4.0)
    made = await steps(
        Archive({QUESTION: [REPAIRED, *OTHERS], "Ingrid Solheim": [other]}), Facts(MARRIED)
    )
    assert [each.fact_id for each in made[-1].evidence if each.fact_id] == []


async def test_no_more_names_are_followed_than_so_many_and_none_twice() -> None:
    others = ["Amy", "Bob", "Cal", "Dee", "Eve", "Fay"]
    facts = Facts(*(fact(f"Torvald Engen knows {each}", each) for each in ["Amy", *others]))

    made = await steps(found_by_name(), facts)
    assert [each.name for each in by_facts(made)] == others[:4]
    made = await steps(found_by_name(), facts, names=2)
    assert [each.name for each in by_facts(made)] == others[:2]
    found = {**found_by_name().found, **{each: [turn(each, "Here.", 0.1)] for each in others}}
    made = await steps(Archive(found), facts)
    names = [each.name for each in by_facts(made)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "content",
    [
        "Ingrid Solheim lives with Tom",  # names nobody who is known
        "Torvald Engen likes tea",
        "Engen is Torvald Engen's name",  # known as a part of another one
        "torvald engen knows nobody",
    ],
)
async def test_a_fact_that_joins_no_new_name_to_a_known_one_is_not_followed(content: str) -> None:
    assert by_facts(await steps(found_by_name(), Facts(fact(content)))) == []


async def test_who_said_a_fact_is_mentioned_by_it() -> None:
    said = fact("My wife is Ingrid Solheim", speaker="Torvald Engen")
    (search,) = by_facts(await steps(found_by_name(), Facts(said)))
    assert (search.name, search.mentioned_with) == ("Ingrid Solheim", "Torvald Engen")


async def test_facts_are_asked_only_for_names_and_only_where_something_is_missing() -> None:
    facts = Facts(MARRIED)
    nobody = turn("nobody", "The boathouse was repaired by somebody.", 1.0)
    await steps(Archive({QUESTION: [nobody]}), facts)
    said_all = turn("all", "The wife of the man who repaired the boathouse does work here.", 1.0)
    await steps(Archive({QUESTION: [said_all, REPAIRED]}), facts)
    assert facts.asked == []


class Service:
    """Answers as `facts` would, or as a flow without it."""

    def __init__(self, *answers: RetrieveFactsResponse | Exception | None) -> None:
        self.answers = list(answers)
        self.asked: list[RetrieveFactsRequest] = []

    async def call(self, _call: Any, question: RetrieveFactsRequest) -> RetrieveFactsResponse:
        self.asked.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.Event().wait()
        assert answer is not None
        return answer


def reader(service: Service) -> FactReader:
    caller: Any = service
    return FactReader(caller, 0.01)


ASKED = ResearchRequest(user="ann", collection="work", question=QUESTION)
FAILED = CallFailedError("facts.retrieve", Error(type="unavailable", message="no", temporary=True))


async def test_what_was_asked_is_not_asked_again_in_one_research() -> None:
    service = Service(*[RetrieveFactsResponse(facts=(MARRIED,))] * 3)
    mentioning = reader(service).of(ASKED)

    assert await mentioning(["Tom"]) == (MARRIED,)
    assert await mentioning(["Tom"]) == ()
    assert await mentioning(["Tom", "Amy"]) == (MARRIED,)
    assert await reader(service).of(ASKED)(["Tom"]) == (MARRIED,)
    first = service.asked[0]
    assert (first.user, first.collection, first.query) == ("ann", "work", QUESTION)
    assert (first.mentions, first.include_superseded) == (("Tom",), False)


@pytest.mark.parametrize("outage", [None, FAILED])
async def test_a_service_that_does_not_answer_is_left_alone_for_a_while(
    outage: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(outage, RetrieveFactsResponse(facts=(MARRIED,)))
    shared = reader(service)

    assert await shared.of(ASKED)(["Tom"]) == ()
    assert await shared.of(ASKED)(["Tom"]) == ()
    assert len(service.asked) == 1

    now = reading.time.monotonic() + 61
    monkeypatch.setattr(reading.time, "monotonic", lambda: now)
    assert await shared.of(ASKED)(["Tom"]) == (MARRIED,)


class NoModel(Service):
    """A flow whose model fails."""

    async def stream(self, _call: Any, _question: Any) -> AsyncGenerator[Any]:
        raise FAILED
        yield


@pytest.mark.parametrize(
    ("names", "method", "asks"), [(4, "rule", True), (0, "rule", False), (4, "llm", False)]
)
async def test_facts_are_asked_only_by_rule_and_where_the_flow_wants_it(
    names: int, method: MethodName, *, asks: bool
) -> None:
    """What a research by a model has searched for is kept, so no fact may have led to it."""
    service = NoModel(*[RetrieveFactsResponse(facts=(MARRIED,))] * 3)
    caller: Any = service
    parameters = ResearcherParameters(names_from_facts=names, method=method, memo_tokens=0)
    roles, budget = RoleChoice(caller, Settings(), parameters).of(ASKED)
    made = [step async for step in Research(ASKED, found_by_name(), roles, budget).steps()]

    assert bool(by_facts(made)) == bool(service.asked) == asks
    assert {each.name for step in made for each in step.searches} >= {"Torvald Engen"}


@pytest.mark.parametrize("names", [4, 0])
async def test_a_research_follows_the_facts_of_its_flow_and_its_user(
    tmp_path: Path, names: int
) -> None:
    services: dict[str, dict[str, Any]] = {
        "embeddings": {},
        "facts": {},
        "archive": {},
        "researcher": {"method": "rule", "facts-seconds": 30, "names-from-facts": names},
    }
    said = [
        "Torvald Engen has a wife.",
        "The wife of Torvald Engen is at work.",
        "Torvald Engen likes the work of his wife.",
        PRACTICE.entry.content,
    ]
    question = "In which town does the wife of Torvald Engen work?"
    ann, bob = Scope("ann", "default"), Scope("bob", "default")
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        await archive(flow, client, "ann", *said)
        stored = await client.facts.store(ann, MARRIED.content, speaker="ann")
        await client.facts.store(bob, "Torvald Engen hates Victor Lund", speaker="bob")
        before = [step async for step in client.research(question, user="ann")]
        await erase(client.caller, ERASE_FACTS, ann, ids=(stored.fact_id,))
        after = [step async for step in client.research(question, user="ann")]

    followed = [(each.name, each.mentioned_with, each.fact_id) for each in by_facts(before)]
    assert followed == ([("Ingrid Solheim", "Torvald Engen", stored.fact_id)] if names else [])
    assert by_facts(after) == []


async def test_a_flow_without_facts_researches_without_them(tmp_path: Path) -> None:
    services: dict[str, dict[str, Any]] = {
        "embeddings": {},
        "archive": {},
        "researcher": {"method": "rule", "facts-seconds": 0.1},
    }
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        await archive(flow, client, "ann", "Torvald Engen has a wife.")
        (*_, end) = [
            step async for step in client.research("Whose boat is Torvald Engen in?", user="ann")
        ]
        (*_, again) = [
            step async for step in client.research("Which town is Torvald Engen in?", user="ann")
        ]
    for each in (end, again):
        assert each.receipt is not None
        assert (each.receipt.stopped, each.receipt.degraded) == ("nothing-new", {})
        assert len(each.evidence) == 1
