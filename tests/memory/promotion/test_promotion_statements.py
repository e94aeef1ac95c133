"""Promotion by rule, behind the real record of conversations."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.promotion.record import theme
from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.process.host import OPERATOR
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.schema.agent import INVOCATION_ENDED, AgentStep, InvocationEnded
from fourtier.schema.conversations import (
    CONVERSATION_ENDED,
    DIALOGUE_RECORDED,
    END_CONVERSATION,
    UPDATE_CONVERSATION,
    ConversationEnded,
    DialogueTurn,
    EndConversationRequest,
    InConversation,
    InvocationSummary,
    UpdateConversationMemoryRequest,
    by_conversation,
)
from fourtier.schema.episodes import (
    LIST_EPISODES,
    STORE_EPISODE,
    ListEpisodesRequest,
    StoreEpisodeRequest,
)
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import Listener, listening
from tests.support.waiting import wait_until

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass
class Promotion:
    """A running promotion with the record that it reads, and what it sends."""

    flow: RunningFlow
    facts: Listener[StoreFactRequest]
    episodes: Listener[StoreEpisodeRequest]

    async def said(
        self,
        *queries: str,
        conversation: str = "c1",
        user: str = "ann",
        speaker: Callable[[int], str] = lambda _: "",
        result: str = "Answer",
        since: int = 0,
    ) -> None:
        """Put invocations into the record."""
        for number, query in enumerate(queries, start=since):
            summary = InvocationSummary(
                id=f"r{number}",
                query=query,
                speaker=speaker(number),
                result=f"{result} {number}." if result else "",
                timestamp=START + timedelta(minutes=number),
            )
            await self.flow.caller.call(
                UPDATE_CONVERSATION,
                UpdateConversationMemoryRequest(
                    user=user, conversation_id=conversation, invocation_summary=summary
                ),
            )

    async def end(self, conversation: str = "c1", user: str = "ann") -> None:
        request = EndConversationRequest(user=user, conversation_id=conversation)
        assert (await self.flow.caller.call(END_CONVERSATION, request)).ended

    async def wait_until_handled(self, conversation: str = "c1") -> None:
        """Wait until the end of Ann's conversation is handled: one that came behind it is.

        Conversations are handled beside each other. The last one has the key of Ann's, so that it
        is handled after it.
        """
        ann = InConversation(user="ann", conversation_id=conversation)
        behind = replace(CONVERSATION_ENDED, key=lambda _: by_conversation(ann))
        await self.said("I live in Rome.", "Where is a bakery?", conversation="last", user="zoe")
        ended = ConversationEnded(
            user="zoe", conversation_id="last", ended_at=START + timedelta(hours=1), reason="call"
        )
        await self.flow.caller.publish(behind, ended)
        while (await self.facts.next()).source != "last":
            pass
        while (await self.episodes.next()).source != "last":
            pass
        self.facts.received.pop()
        self.episodes.received.pop()


@asynccontextmanager
async def promoting(tmp_path: Path, **parameters: Any) -> AsyncGenerator[Promotion]:
    services = {"conversations": {}, "promotion": parameters}
    async with AsyncExitStack() as stack:
        flow = await stack.enter_async_context(running_flow(tmp_path, services))
        facts = await stack.enter_async_context(listening(flow.bus, STORE_FACT.topic))
        episodes = await stack.enter_async_context(listening(flow.bus, STORE_EPISODE.topic))
        yield Promotion(flow, facts, episodes)


@pytest.fixture
async def promotion(tmp_path: Path) -> AsyncGenerator[Promotion]:
    async with promoting(tmp_path) as running:
        yield running


@pytest.mark.cluster
async def test_an_ended_conversation_leaves_facts_and_one_episode(promotion: Promotion) -> None:
    await promotion.said(
        "Hi there!",
        "I want to visit Hawaii in May. Which island is the quietest?",
        "Thanks! My budget is 10,000 dollars.",
    )
    await promotion.end()

    visit, budget = await promotion.facts.take(2)
    episode = await promotion.episodes.next()

    assert visit.content == "I want to visit Hawaii in May."
    assert (visit.source, visit.invocation_id, visit.speaker) == ("c1", "r1", "ann")
    assert visit.timestamp == START + timedelta(minutes=1)
    assert visit.metadata == {"run_id": "r1"}
    assert budget.content == "My budget is 10,000 dollars."
    assert episode.goal == "Which island is the quietest?"
    assert episode.steps == (
        "Hi there! → Answer 0.",
        "I want to visit Hawaii in May. Which island is the quietest? → Answer 1.",
        "Thanks! My budget is 10,000 dollars. → Answer 2.",
    )
    assert episode.outcome == "Answer 2."
    assert episode.result == "unknown"
    assert episode.timestamp == START + timedelta(minutes=2)
    assert episode.metadata == {"conversation_id": "c1", "invocations": 3}


async def test_only_what_lasts_is_promoted(promotion: Promotion) -> None:
    await promotion.said(
        "I live in Oslo. The weather seems rainy today. Remember that the gate is green.",
        "The train from Bergen arrives at 9:40. Somebody plays the piano upstairs.",
    )
    await promotion.end()
    await promotion.facts.take(3)
    await promotion.wait_until_handled()  # and nothing more

    assert [fact.content for fact in promotion.facts.received if fact.source == "c1"] == [
        "I live in Oslo.",
        "the gate is green.",
        "The train from Bergen arrives at 9:40.",
    ]


@pytest.mark.parametrize(
    "queries",
    [
        ["Book me a flight to Rome"],
        ["Hi!", "Thanks!", "Bye!"],
        ["How have you been?", "Great!"],
    ],
)
async def test_without_a_theme_or_a_second_invocation_there_is_no_episode(
    promotion: Promotion, queries: list[str]
) -> None:
    await promotion.said(*queries)
    await promotion.end()
    await promotion.wait_until_handled()

    assert promotion.episodes.received == []
    assert promotion.facts.received == []


async def test_plain_talk_with_the_agent_leaves_no_episode(promotion: Promotion) -> None:
    await promotion.said("Had a great weekend!", "I went to the zoo with my sister Anna.")
    await promotion.end()
    await promotion.wait_until_handled()

    assert [fact.invocation_id for fact in promotion.facts.received] == ["r1"]
    assert promotion.episodes.received == []


@pytest.mark.parametrize(("summary", "number"), [("Used calculator.", 1), ("Used store_fact.", 0)])
def test_what_a_tool_was_used_for_is_a_theme_unless_it_is_memorys(
    summary: str, number: int
) -> None:
    task = InvocationSummary(
        query="Split 1,200 dollars among 8 people.",
        summary=summary,
        result="150.",
        timestamp=START,
    )
    assert theme([task]) == (task.query if number else "")


async def test_a_wish_that_is_answered_is_a_goal_though_it_is_no_question(
    promotion: Promotion,
) -> None:
    await promotion.said("Hi! I'd like to cancel my reservation.", "It is PEP4E0.")
    await promotion.end()

    assert (await promotion.episodes.next()).goal == "I'd like to cancel my reservation."


async def test_an_imported_dialogue_gives_facts_and_no_episode(promotion: Promotion) -> None:
    await promotion.said(
        "Hey Tom! How have you been?",
        "Hi Mia! We moved to a farm near Bergen.",
        "Wow! Do you have any animals there?",
        "Yes, six sheep and a dog called Rex.",
        speaker=lambda number: ("Mia", "Tom")[number % 2],
        result="",
    )
    await promotion.end()

    fact = await promotion.facts.next()
    await promotion.wait_until_handled()

    assert (fact.content, fact.speaker) == ("We moved to a farm near Bergen.", "Tom")
    assert fact.metadata == {"turn_id": "r1"}
    assert promotion.episodes.received == []


async def test_of_very_many_invocations_the_middle_is_left_out(tmp_path: Path) -> None:
    async with promoting(tmp_path, **{"max-steps": 4}) as promotion:
        await promotion.said(*(f"What is {number} times seven?" for number in range(20)))
        await promotion.end()

        episode = await promotion.episodes.next()

    assert [step.split(" →")[0] for step in episode.steps] == [
        "What is 0 times seven?",
        "What is 1 times seven?",
        "… 16 more …",
        "What is 18 times seven?",
        "What is 19 times seven?",
    ]


async def test_a_second_end_writes_over_the_first_episode(promotion: Promotion) -> None:
    await promotion.said("What can I see in Hawaii?", "And what in May?")
    await promotion.end()
    first = await promotion.episodes.next()
    await promotion.said("Which hotel is near the beach?", since=2)
    await promotion.end()
    second = await promotion.episodes.next()

    assert first.episode_id == second.episode_id
    assert len(second.steps) == 3
    assert promotion.episodes.ids[0] != promotion.episodes.ids[1]


async def test_conversations_of_one_name_in_two_scopes_are_two(promotion: Promotion) -> None:
    for user, home in (("ann", "Oslo"), ("bob", "Bergen")):
        await promotion.said(f"I live in {home}.", f"What is new in {home}?", user=user)
        await promotion.end(user=user)

    facts = await promotion.facts.take(2)
    episodes = await promotion.episodes.take(2)

    assert {(fact.user, fact.content) for fact in facts} == {
        ("ann", "I live in Oslo."),
        ("bob", "I live in Bergen."),
    }
    assert len({episode.episode_id for episode in episodes}) == 2
    assert {episode.user for episode in episodes} == {"ann", "bob"}


async def test_a_conversation_that_is_gone_leaves_nothing(promotion: Promotion) -> None:
    ended = ConversationEnded(
        user="ann", conversation_id="nobody-knows", ended_at=START, reason="idle"
    )
    await promotion.flow.caller.publish(CONVERSATION_ENDED, ended)
    await promotion.wait_until_handled("nobody-knows")

    assert promotion.facts.received == []
    assert promotion.episodes.received == []


async def test_a_malformed_event_goes_to_the_dead_letter_queue(promotion: Promotion) -> None:
    bus = promotion.flow.bus
    await bus.publish(Address("conversation.ended"), b"[]")
    async with bus.subscribe(
        dead_letter_address("promotion"), OPERATOR, Mode.SHARED
    ) as dead_letters:
        dead = await dead_letters.receive()

    assert dead.properties["dead-error"].startswith("malformed")


async def test_with_extraction_beside_it_nothing_is_there_twice(tmp_path: Path) -> None:
    names = ("embeddings", "facts", "episodes", "conversations", "extraction", "promotion")
    async with running_flow(tmp_path, {name: {} for name in names}) as flow:
        caller = flow.caller
        steps = (
            AgentStep(action="search", arguments={"q": "Rome"}, observation="AB12"),
            AgentStep(action="book", arguments={"f": "AB12"}, observation="booked"),
        )
        for number, question in enumerate(
            ["I live in Oslo. Book me a flight to Rome.", "My sister Anna comes along to Rome."]
        ):
            run = InvocationEnded(
                user="ann",
                conversation_id="c1",
                run_id=f"r{number}",
                question=question,
                answer="Done.",
                steps=steps if number == 0 else (),
                started_at=START + timedelta(minutes=number),
                ended_at=START + timedelta(minutes=number, seconds=9),
            )
            await caller.publish(INVOCATION_ENDED, run)
        turn = DialogueTurn(
            user="ann",
            conversation_id="c2",
            speaker="Tom",
            content="I keep six sheep.",
            timestamp=START,
            turn_id="t1",
        )
        await caller.publish(DIALOGUE_RECORDED, turn)

        async def facts() -> set[tuple[str, str, str]]:
            page = await caller.call(LIST_FACTS, ListFactsRequest(user="ann"))
            return {(fact.content, fact.speaker, fact.invocation_id) for fact in page.facts}

        expected = {
            ("I live in Oslo.", "ann", "r0"),
            ("My sister Anna comes along to Rome.", "ann", "r1"),
            ("I keep six sheep.", "Tom", "t1"),
        }

        async def learned() -> bool:
            return await facts() == expected

        await wait_until(learned)
        for conversation in ("c1", "c2"):
            request = EndConversationRequest(user="ann", conversation_id=conversation)
            assert (await caller.call(END_CONVERSATION, request)).ended

        async def promoted() -> bool:
            page = await caller.call(LIST_EPISODES, ListEpisodesRequest(user="ann"))
            return page.total == 2

        await wait_until(promoted)
        behind = StoreFactRequest(user="ann", content="This is the last fact.")
        await caller.call(STORE_FACT, behind)  # comes after those that were promoted
        assert await facts() == {*expected, ("This is the last fact.", "", "")}
