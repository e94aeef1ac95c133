"""What is valid at the end depends on what was said when, not on how it was delivered.

The same messages come in random orders, some of them twice, over several users and conversations,
and the flow is stopped and started between them with messages in flight.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.bus.contract import Address, Bus
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.process.host import run_services
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.settings import Settings
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import (
    DIALOGUE_RECORDED,
    GET_CONVERSATION,
    DialogueTurn,
    GetConversationMemoryRequest,
)
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from fourtier.schema.message import Scoped
from tests.support.waiting import wait_until

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SERVICES: dict[str, dict[str, Any]] = {
    "embeddings": {},
    "facts": {},
    "conversations": {},
    "extraction": {"method": "statements"},
}
GROUPS = {
    INVOCATION_ENDED.name: ("conversations", "extraction"),
    DIALOGUE_RECORDED.name: ("conversations", "extraction"),
    STORE_FACT.topic.name: ("facts",),
}
USERS, CONVERSATIONS = ("ann", "bob"), ("c1", "c2")
SAID = (
    "My Hawaii budget is 10,000 dollars. I like tea.",
    "I live in Oslo. I live in Bergen.",
    "My Hawaii budget is now 12,000 dollars.",
    "I moved to Rome. My budget for the Hawaii trip is 11,000 dollars.",
    "I like tea.",
    "I live in Lima. I live in Quito. I live in Oslo.",
)


@dataclass(frozen=True)
class Sent:
    """A message, and when it was sent for the first time."""

    topic: str
    message: Scoped
    id: str
    at: datetime

    async def publish(self, bus: Bus) -> None:
        since = self.at - datetime(1970, 1, 1, tzinfo=UTC)
        await bus.publish(
            Address(self.topic),
            self.message.model_dump_json().encode(),
            key=self.message.scope.key,
            properties={"id": self.id, "sent-at": str(since // timedelta(microseconds=1))},
        )


def messages(user: str) -> list[Sent]:
    """What one user told the agent, the importer and a client, in the order in which it was."""
    sent: list[Sent] = []
    for number, said in enumerate(SAID * 2):
        at = START + timedelta(minutes=number)
        conversation, name = CONVERSATIONS[number % 2], f"{user}-{number}"
        match number % 3:
            case 0 | 1:
                message: Scoped = InvocationEnded(
                    user=user,
                    conversation_id=conversation,
                    run_id=name,
                    question=said,
                    answer="Noted.",
                    started_at=at,
                    ended_at=at,
                )
                topic = INVOCATION_ENDED.name
            case _:
                message = DialogueTurn(
                    user=user,
                    conversation_id=conversation,
                    turn_id=name,
                    speaker=user,
                    content=said,
                    timestamp=at,
                )
                topic = DIALOGUE_RECORDED.name
        sent.append(Sent(topic, message, name, at))
    failed = sent[0].message.model_copy(update={"answer": "", "succeeded": False})
    sent[0] = replace(sent[0], at=START + timedelta(seconds=20))  # the run was asked for again
    sent.insert(0, replace(sent[0], message=failed, at=START + timedelta(seconds=10)))
    fact = StoreFactRequest(user=user, content="I live in Paris", speaker=user)  # without a time
    return [*sent, Sent(STORE_FACT.topic.name, fact, f"{user}-p", START + timedelta(minutes=7.5))]


async def outcome(directory: Path, parts: Sequence[Sequence[Sent]]) -> list[Any]:
    """What is there in the end when these parts are all that ever came.

    The flow runs once for each part; all but the last run stop with messages in flight.
    """
    bus, flow = MemoryBus(), Flow(name="order", namespace="test", services=SERVICES)
    for topic, groups in GROUPS.items():
        for group in groups:
            await bus.create_group(Address(topic), group)
    plan = host_plan(flow, Settings(data=directory))
    for part in parts[:-1]:
        async with run_services(bus, plan) as host:
            for sent in part:
                await sent.publish(bus)
            host.stop_at_once()
    async with run_services(bus, plan), open_caller(bus) as caller:
        for sent in parts[-1]:
            await sent.publish(bus)
        await wait_until(lambda: in_flight(bus) == 0)
        return await state(caller)


def in_flight(bus: MemoryBus) -> int:
    """How many messages are not done yet."""
    return sum(
        len(bus._topics[Address(topic)][group].waiting)
        + len(bus._topics[Address(topic)][group].unacknowledged)
        for topic, groups in GROUPS.items()
        for group in groups
    )


async def state(caller: Caller) -> list[Any]:
    """All facts with their times and validity, and the records of all conversations."""
    seen: list[Any] = []
    for user in USERS:
        facts = await caller.call(LIST_FACTS, ListFactsRequest(user=user, include_superseded=True))
        seen.append(sorted(facts.facts, key=lambda fact: fact.id))
        for conversation in CONVERSATIONS:
            question = GetConversationMemoryRequest(user=user, conversation_id=conversation)
            found = await caller.call(GET_CONVERSATION, question)
            seen.append(found.conversation.invocations)
    return seen


@pytest.mark.parametrize("seed", range(4))
async def test_order_repetition_and_crashes_change_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    said = [each for user in USERS for each in messages(user)]
    shuffled = said + chance.sample(said, len(said) // 2)
    chance.shuffle(shuffled)
    third = len(shuffled) // 3

    expected = await outcome(tmp_path / "in-order", [said])
    parts = [shuffled[:third], shuffled[third : 2 * third], shuffled[2 * third :]]
    assert await outcome(tmp_path / "shuffled", parts) == expected

    for facts in expected[::3]:
        valid = {fact.content for fact in facts if fact.valid_until is None}
        assert valid == {
            "I like tea.",
            "I live in Oslo.",
            "My budget for the Hawaii trip is 11,000 dollars.",
        }
