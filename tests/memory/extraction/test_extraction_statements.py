"""Extraction by rule: what it sends on for runs and for turns of dialogue."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.schema.agent import INVOCATION_ENDED, AgentStep, InvocationEnded
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.episodes import (
    LIST_EPISODES,
    STORE_EPISODE,
    ListEpisodesRequest,
    StoreEpisodeRequest,
)
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from fourtier.schema.message import MAX_LONG_TEXT
from tests.memory.extraction.runs import BOOK, SEARCH, START, run
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import Listener, listening
from tests.support.reporting import reported
from tests.support.waiting import wait_until


@dataclass
class Extraction:
    """A running extraction, and what it sends."""

    flow: RunningFlow
    facts: Listener[StoreFactRequest]
    episodes: Listener[StoreEpisodeRequest]

    async def tell(self, event: InvocationEnded | DialogueTurn) -> None:
        if isinstance(event, InvocationEnded):
            await self.flow.caller.publish(INVOCATION_ENDED, event)
        else:
            await self.flow.caller.publish(DIALOGUE_RECORDED, event)

    async def wait_until_handled(self) -> None:
        """Wait until everything told is handled: it is, once a run told after it is."""
        await self.tell(run("I am the last one.", run_id="last", steps=[SEARCH, BOOK]))
        while (await self.facts.next()).invocation_id != "last":
            pass
        while (await self.episodes.next()).metadata != {"run_id": "last"}:
            pass
        for listener in (self.facts, self.episodes):
            listener.received.pop()
            listener.ids.pop()


@pytest.fixture
async def extraction(tmp_path: Path) -> AsyncGenerator[Extraction]:
    async with (
        running_flow(tmp_path, {"extraction": {}}) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        yield Extraction(flow, facts, episodes)


async def test_the_users_statements_become_facts_with_their_origin(extraction: Extraction) -> None:
    await extraction.tell(
        run("Hi! So my budget for Hawaii is 10,000 dollars. What can I see there? I hate boats.")
    )

    budget, boats = await extraction.facts.take(2)

    assert budget.content == "my budget for Hawaii is 10,000 dollars."
    assert budget.quote == "So my budget for Hawaii is 10,000 dollars."
    assert boats.content == "I hate boats."
    for fact in (budget, boats):
        assert fact.user == "ann"
        assert fact.speaker == "ann"
        assert fact.source == "c1"
        assert fact.invocation_id == "r1"
        assert fact.metadata == {"run_id": "r1"}
    assert (budget.timestamp, boats.timestamp) == (START, START + timedelta(microseconds=1))
    assert extraction.facts.ids == ["r1/fact/0", "r1/fact/1"]


async def test_the_agents_answer_is_not_a_source(extraction: Extraction) -> None:
    await extraction.tell(run("Where do I live?", answer="You live in Oslo. Your dog is Rex."))
    await extraction.wait_until_handled()

    assert extraction.facts.received == []


async def test_a_question_with_one_step_or_none_is_not_a_task(extraction: Extraction) -> None:
    memory = AgentStep(action="retrieve_facts", arguments={"query": "x"}, observation="- y")
    missing = AgentStep(
        action="fly", observation="There is no tool 'fly'. There are: none.", status="rejected"
    )
    await extraction.tell(run("How late is it?", run_id="r1"))
    await extraction.tell(run("How late is it?", run_id="r2", steps=[SEARCH]))
    await extraction.tell(run("Where do I live?", run_id="r3", steps=[memory, memory, SEARCH]))
    await extraction.tell(run("Fly me to Rome", run_id="r4", steps=[missing, missing, SEARCH]))
    await extraction.wait_until_handled()

    assert extraction.episodes.received == []


async def test_a_task_becomes_an_episode(extraction: Extraction) -> None:
    await extraction.tell(
        run("Book me the cheapest flight to Rome", steps=[SEARCH, BOOK], answer="CD34 is booked.")
    )

    episode = await extraction.episodes.next()

    assert episode.goal == "Book me the cheapest flight to Rome"
    assert episode.steps == (
        'search_flights({"to": "Rome"}): AB12 at 9:00, 120 euros CD34 at 11:00, 95 euros',
        'book_flight({"flight": "CD34"}): booked, seat 4A',
    )
    assert episode.outcome == "CD34 is booked."
    assert episode.lessons == ""
    assert episode.result == "success"
    assert episode.source == "c1"
    assert episode.timestamp == START + timedelta(minutes=1)
    assert episode.metadata == {"run_id": "r1"}
    assert extraction.episodes.ids == ["r1/episode"]


async def test_the_lesson_is_what_worked_instead(extraction: Extraction) -> None:
    failing = AgentStep(
        action="search_flights",
        arguments={"to": "Roma"},
        observation="The tool search_flights failed: no such city",
        status="failed",
    )
    await extraction.tell(run("Book a flight to Rome", steps=[failing, SEARCH, BOOK]))

    episode = await extraction.episodes.next()

    assert episode.lessons == (
        'search_flights({"to": "Rome"}) worked where search_flights({"to": "Roma"}) did not '
        "(The tool search_flights failed: no such city)."
    )
    assert episode.result == "success"


@pytest.mark.parametrize(
    ("status", "observation"),
    [
        ("failed", "sold out"),
        ("interrupted", "nobody knows whether it was booked"),
        ("not-run", "it may not be run twice"),
        ("ok", '{"error": "sold out"}'),
        ("ok", "Error: sold out"),
        ("unknown", "Error: sold out"),
    ],
)
async def test_a_last_step_that_failed_makes_a_failure(
    extraction: Extraction, status: str, observation: str
) -> None:
    sold_out = BOOK.model_copy(update={"observation": observation, "status": status})
    await extraction.tell(run("Book a flight to Rome", steps=[SEARCH, sold_out]))

    episode = await extraction.episodes.next()

    assert episode.result == "failure"
    assert "did not work" in episode.lessons
    assert "worked where" not in episode.lessons


async def test_a_run_without_an_answer_is_a_failure(extraction: Extraction) -> None:
    await extraction.tell(run("Book a flight", steps=[SEARCH, BOOK], answer="", succeeded=False))

    assert (await extraction.episodes.next()).result == "failure"


@pytest.mark.parametrize("result", ["success", "failure", "unknown"])
async def test_a_run_that_was_judged_ended_as_it_was_judged(
    extraction: Extraction, result: str
) -> None:
    sold_out = BOOK.model_copy(update={"status": "failed"})
    await extraction.tell(run("Book a flight", steps=[SEARCH, BOOK], result=result))
    await extraction.tell(
        run("Book a flight", steps=[SEARCH, sold_out], run_id="r2", result=result)
    )

    assert [each.result for each in await extraction.episodes.take(2)] == [result, result]


async def test_the_flags_of_the_event_are_honoured(extraction: Extraction) -> None:
    steps = [SEARCH, BOOK]
    await extraction.tell(run("I live in Oslo.", steps=steps, extract_facts=False))
    await extraction.tell(run("I live in Bergen.", steps=steps, run_id="r2", record_episode=False))
    await extraction.wait_until_handled()

    assert [fact.content for fact in extraction.facts.received] == ["I live in Bergen."]
    assert [episode.goal for episode in extraction.episodes.received] == ["I live in Oslo."]


async def test_no_credential_is_sent_on(extraction: Extraction) -> None:
    login = AgentStep(
        action="login",
        arguments={"name": "ann", "password": "hunter2"},
        observation="welcome, your session token: abc123def",
    )
    await extraction.tell(
        run(
            "My password is hunter2. I live in Oslo. Log me in.",
            steps=[login, BOOK],
            answer="You are in; the PIN is 4711.",
        )
    )

    fact, episode = await extraction.facts.next(), await extraction.episodes.next()

    assert fact.content == "I live in Oslo."
    assert "ann" in episode.steps[0]
    for secret in ("hunter2", "abc123def", "4711"):
        assert secret not in episode.model_dump_json()


async def test_a_very_long_question_is_shortened_and_not_lost(extraction: Extraction) -> None:
    await extraction.tell(run("Sort this: " + "x y " * 8_000, steps=[SEARCH, BOOK]))

    episode = await extraction.episodes.next()

    assert episode.goal.startswith("Sort this: x y")
    assert len(episode.goal) <= 1_000


async def test_each_speaker_of_a_dialogue_is_heard(extraction: Extraction) -> None:
    for number, (speaker, said) in enumerate(
        [
            ("Mia", "Hey Tom! Long time no see. How are you?"),
            ("Tom", "Hi Mia! I'm good. I ran a race for the hospital last Saturday."),
            ("Mia", "Wow, that's great! We moved to a farm near Bergen. It has six sheep."),
        ]
    ):
        await extraction.tell(
            DialogueTurn(
                user="ann",
                conversation_id="c7",
                speaker=speaker,
                content=said,
                timestamp=START + timedelta(days=number),
                turn_id=f"D1:{number}",
            )
        )

    facts = await extraction.facts.take(3)

    assert [(fact.speaker, fact.content, fact.metadata) for fact in facts] == [
        (
            "Tom",
            "I ran a race for the hospital last Saturday.",
            {"turn_id": "D1:1", "dates": {"last saturday": "2026-02-28"}},
        ),
        ("Mia", "We moved to a farm near Bergen.", {"turn_id": "D1:2"}),
        ("Mia", "It has six sheep.", {"turn_id": "D1:2"}),
    ]
    assert facts[0].timestamp == START + timedelta(days=1)
    assert facts[0].source == "c7"
    assert facts[0].invocation_id == "D1:1"
    assert extraction.facts.ids[0] == "c7/D1:1/fact/0"


async def test_an_event_that_comes_again_doubles_nothing(tmp_path: Path) -> None:
    services: dict[str, dict[str, Any]] = {
        "embeddings": {},
        "facts": {},
        "episodes": {},
        "extraction": {},
    }
    async with running_flow(tmp_path, services) as flow:
        caller = flow.caller
        event = run("I live in Oslo. Book me a flight to Rome.", steps=[SEARCH, BOOK])
        for _ in range(3):
            await caller.publish(INVOCATION_ENDED, event)
        other = run("I sing.", user="bob", run_id="r2", steps=[SEARCH, BOOK])
        await caller.publish(INVOCATION_ENDED, other)
        last = run("I have a dog called Rex.", steps=[BOOK, SEARCH], run_id="r3")
        await caller.publish(INVOCATION_ENDED, last)

        async def counts(user: str) -> tuple[int, int]:
            facts = await caller.call(LIST_FACTS, ListFactsRequest(user=user))
            episodes = await caller.call(LIST_EPISODES, ListEpisodesRequest(user=user))
            return facts.total, episodes.total

        async def all_there() -> bool:
            return await counts("ann") == (2, 2) and await counts("bob") == (1, 1)

        await wait_until(all_there)
        (fact,) = (await caller.call(LIST_FACTS, ListFactsRequest(user="bob"))).facts
        assert fact.content == "I sing."


async def test_equal_statements_of_one_message_count_once(extraction: Extraction) -> None:
    await extraction.tell(run("I like tea. i  like tea! My cat is Tom. " * 500))
    await extraction.wait_until_handled()

    assert [each.content for each in extraction.facts.received] == ["I like tea.", "My cat is Tom."]


async def test_a_message_gives_at_most_max_statements_and_the_others_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with reported() as report:
        async with (
            running_flow(tmp_path, {"extraction": {"max-statements": 20}}) as flow,
            listening(flow.bus, STORE_FACT.topic) as facts,
            listening(flow.bus, STORE_EPISODE.topic) as episodes,
        ):
            extraction = Extraction(flow, facts, episodes)
            text = " ".join(f"I have {number} cats." for number in range(100, 170))
            await extraction.tell(run(text))
            await extraction.wait_until_handled()

        (rejected,) = report.points("fourtier.learning.rejected_statements")
    assert [each.content for each in facts.received] == [
        f"I have {number} cats." for number in range(100, 120)
    ]
    assert facts.ids == [f"r1/fact/{number}" for number in range(20)]
    assert rejected.value == 50
    assert rejected.attributes == {"messaging.consumer.group.name": "extraction"}
    assert "50 of 70 statements in r1 are rejected: at most 20 are stored" in caplog.text


async def test_a_message_of_the_largest_size_gives_few_commands(extraction: Extraction) -> None:
    numbered = (f"I have {number} red apples here. " for number in range(1_000_000))
    text = ""
    for sentence in numbered:
        if len(text) + len(sentence) > MAX_LONG_TEXT:
            break
        text += sentence
    await extraction.tell(run(text))
    await extraction.wait_until_handled()

    assert len(extraction.facts.received) == 50
