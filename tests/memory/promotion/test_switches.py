"""Promotion makes of an invocation what the agent's flow wanted of it, and no more."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import (
    END_CONVERSATION,
    GET_CONVERSATION,
    EndConversationRequest,
    GetConversationMemoryRequest,
)
from fourtier.schema.episodes import STORE_EPISODE
from fourtier.schema.facts import STORE_FACT
from tests.memory.promotion.test_promotion_model import START, episode, fact, flow_with
from tests.memory.promotion.test_promotion_statements import promoting
from tests.support.flow import RunningFlow
from tests.support.listening import listening
from tests.support.model import Writes
from tests.support.waiting import wait_until

SAID = ("I live in Oslo. What is new there?", "My sister Anna lives in Rome. And there?")
BOTH = (True, True)


async def talk(
    flow: RunningFlow,
    *,
    facts: Sequence[bool] = BOTH,
    episodes: Sequence[bool] = BOTH,
    conversation: str = "c1",
) -> None:
    """Runs of an agent with these switches for each, and the end of their conversation."""
    for number, said in enumerate(SAID):
        run = InvocationEnded(
            user="ann",
            conversation_id=conversation,
            run_id=f"{conversation}/r{number}",
            question=said,
            answer="I do not know.",
            started_at=START + timedelta(minutes=number),
            ended_at=START + timedelta(minutes=number),
            extract_facts=facts[number],
            record_episode=episodes[number],
        )
        await flow.caller.publish(INVOCATION_ENDED, run)
    scope = {"user": "ann", "conversation_id": conversation}

    async def recorded() -> bool:
        record = await flow.caller.call(
            GET_CONVERSATION, GetConversationMemoryRequest.model_validate(scope)
        )
        return len(record.conversation.invocations) == len(SAID)

    await wait_until(recorded)
    await flow.caller.call(END_CONVERSATION, EndConversationRequest.model_validate(scope))


async def test_by_rule_facts_come_from_invocations_that_want_them(tmp_path: Path) -> None:
    async with promoting(tmp_path) as promotion:
        await talk(promotion.flow, facts=(False, True))
        await promotion.wait_until_handled()

    assert [each.content for each in promotion.facts.received if each.source == "c1"] == [
        "My sister Anna lives in Rome."
    ]
    assert [each.source for each in promotion.episodes.received] == ["c1"]


async def test_by_rule_a_conversation_that_is_no_episode_in_part_is_none(tmp_path: Path) -> None:
    async with promoting(tmp_path) as promotion:
        await talk(promotion.flow, episodes=(True, False))
        await promotion.wait_until_handled()

    assert promotion.episodes.received == []
    assert len([each for each in promotion.facts.received if each.source == "c1"]) == 2


async def test_a_model_is_not_asked_where_nothing_is_wanted(tmp_path: Path) -> None:
    learned = fact("Ann lives in Oslo.", 1, quote="I live in Oslo.")
    reply = Writes({"facts": [learned], "episode": episode("Move")})
    none = (False, False)
    async with (
        flow_with(tmp_path, reply) as (flow, model),
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await talk(flow, facts=none, episodes=none)
        await talk(flow, conversation="c2")

        assert (await facts.next()).source == "c2"
    assert len(model.requests) == 1


async def test_of_a_model_too_only_what_is_wanted_is_stored(tmp_path: Path) -> None:
    reply = Writes(
        {
            "facts": [
                fact("Ann lives in Oslo.", 1, quote="I live in Oslo."),
                fact("Ann lives in Oslo, Norway.", 2, quote="I live in Oslo."),
                fact("Ann's sister Anna lives in Rome.", 1, quote="My sister Anna lives in Rome."),
            ],
            "episode": episode("Talk"),
        }
    )
    async with (
        flow_with(tmp_path, reply, reply) as (flow, _),
        listening(flow.bus, STORE_FACT.topic) as facts,
        listening(flow.bus, STORE_EPISODE.topic) as episodes,
    ):
        await talk(flow, facts=(False, True), episodes=(False, True))
        stored = await facts.next()
        await talk(flow, facts=(False, True), conversation="c2")
        reported = await episodes.next()
        again = await facts.next()

    assert (stored.content, stored.invocation_id) == (
        "Ann's sister Anna lives in Rome.",
        "c1/r1",  # where it was said, and not in the line that the model named
    )
    assert (reported.source, again.source) == ("c2", "c2")
