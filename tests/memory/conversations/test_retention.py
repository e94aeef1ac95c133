"""How many conversations a scope may have, how long they may be, and how long they are stored."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.conversations.forgetting import Forgetting
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.retention import ConversationMemories, RetainedConversations
from fourtier.memory.conversations.store import SCHEMA, ConversationStore
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.errors import CallFailedError, QuotaExceededError
from fourtier.runtime.service.stores.graph import GraphStore, Statement
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.conversations import (
    LIST_CONVERSATIONS,
    ListConversationsRequest,
)
from fourtier.schema.message import Scope
from tests.memory.conversations.support import run, update
from tests.support.flow import running_flow
from tests.support.graphs import GRAPHS, graph_of
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
NOW = datetime.now(UTC)


@pytest.fixture(params=GRAPHS)
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphStore]:
    async with graph_of(request.param, tmp_path, SCHEMA) as store:
        for label in ("Conversation", "Invocation", "ConversationTombstone"):
            await store.write(None, Statement(f"MATCH (n:{label}) DETACH DELETE n"))
        yield store


@dataclass
class Opened:
    """Conversations with a retention policy."""

    store: ConversationStore
    retention: Retention
    retained: RetainedConversations
    graph: GraphStore

    async def say(self, *said: tuple[str, float], scope: Scope = ANN) -> list[str | None]:
        """Record runs of conversations, each so many days ago; why one is not stored."""
        records = [record(conversation, days, scope) for conversation, days in said]
        return [*await self.retained.append(records, datetime.now(UTC))]

    async def listed(self, scope: Scope = ANN) -> set[str]:
        """The conversations of a scope."""
        page, total = await self.store.page(scope, 100, 0)
        assert total == len(page)
        return {each.conversation_id for each in page}

    async def said(self, conversation: str) -> list[str]:
        """What a conversation has, oldest first."""
        found, _ = await self.store.oldest(ConversationKey(ANN, conversation), 0, 100)
        return [each.query for each in found.invocations]

    async def nodes(self) -> tuple[int, int]:
        """How many conversations and exchanges are stored, of whatever scope."""
        numbers = [
            await self.graph.read(None, f"MATCH (n:{label}) RETURN count(n) AS number")
            for label in ("Conversation", "Invocation")
        ]
        return int(numbers[0][0]["number"]), int(numbers[1][0]["number"])


def record(conversation: str, days: float, scope: Scope = ANN) -> InvocationRecord:
    at = NOW - timedelta(days=days)
    event = run(f"{days:g}", at=at, user=scope.user, conversation_id=conversation)
    return InvocationRecord.from_run(event, at)


def opened(
    graph: GraphStore,
    *,
    max_invocations: int | None = None,
    evicts: bool = True,
    **parameters: Any,
) -> Opened:
    settings = RetentionParameters.model_validate(parameters)
    store = ConversationStore(graph, settings.ttl)
    forgetting = Forgetting(store, graph)
    memories = ConversationMemories(graph, forgetting)
    retention = Retention("conversation", memories, settings, evicts=evicts)
    retained = RetainedConversations(forgetting, memories, retention, max_invocations)
    return Opened(store, retention, retained, graph)


async def test_the_conversation_that_was_active_longest_ago_goes(graph: GraphStore) -> None:
    here = opened(graph, max_per_scope=2)
    await here.say(("c", 5), scope=BOB)
    await here.say(("a", 9), ("b", 8), ("a", 3))
    await here.say(("c", 4))
    assert await here.listed() == {"a", "c"}
    assert await here.listed(BOB) == {"c"}
    assert await here.nodes() == (3, 4)


async def test_what_comes_again_of_an_evicted_one_goes_again(graph: GraphStore) -> None:
    """It is as old as when it happened, not as when it is recorded."""
    here = opened(graph, max_per_scope=2)
    await here.say(("a", 9), ("b", 8))
    await here.say(("c", 7))
    assert await here.say(("a", 9)) == ["evicted"]
    assert await here.listed() == {"b", "c"}
    assert await here.say(("b", 1)) == [None]
    assert await here.listed() == {"b", "c"}


async def test_a_full_scope_rejects_new_conversations_and_goes_on_with_others(
    graph: GraphStore,
) -> None:
    here = opened(graph, evicts=False, max_per_scope=2)
    await here.say(("a", 9), ("b", 8))
    with pytest.raises(QuotaExceededError, match="2 of at most 2 conversations"):
        await here.say(("c", 1))
    assert await here.say(("a", 2)) == [None]
    assert await here.listed() == {"a", "b"}


async def test_of_a_long_conversation_what_was_said_first_goes(graph: GraphStore) -> None:
    here = opened(graph, max_invocations=2)
    await here.say(("a", 9), ("a", 8), ("b", 9))
    assert await here.say(("a", 7), ("a", 6)) == [None, None]
    assert await here.said("a") == ["question of 7", "question of 6"]
    assert await here.said("b") == ["question of 9"]


async def test_an_exchange_that_is_gone_neither_returns_nor_reopens_its_conversation(
    graph: GraphStore,
) -> None:
    here = opened(graph, max_invocations=2)
    await here.say(("a", 9), ("a", 8), ("a", 7))
    state = await here.store.state(ConversationKey(ANN, "a"))
    assert await here.say(("a", 9)) == ["evicted"]
    assert await here.store.state(ConversationKey(ANN, "a")) == state
    assert await here.say(("a", 8)) == [None]  # it is there
    assert await here.said("a") == ["question of 8", "question of 7"]


async def test_a_long_conversation_rejects_what_is_new(graph: GraphStore) -> None:
    here = opened(graph, max_invocations=2, evicts=False)
    await here.say(("a", 9), ("a", 8))
    with pytest.raises(QuotaExceededError, match="the 2 exchanges"):
        await here.say(("a", 7))
    assert await here.say(("a", 9), ("b", 7)) == [None, None]


async def test_expired_conversations_are_not_read_and_the_sweep_deletes_them(
    graph: GraphStore,
) -> None:
    await opened(graph).say(("old", 11), ("old", 12), ("new", 30), ("new", 9))
    await opened(graph).say(("old", 11), scope=BOB)
    here = opened(graph, ttl_days=10)

    assert await here.listed() == {"new"}
    assert await here.said("old") == []
    assert await here.said("new") == ["question of 30", "question of 9"]
    assert (await here.store.newest(ConversationKey(ANN, "old"), 5))[0].invocations == ()
    assert await here.store.condensed(ConversationKey(ANN, "old"), 0, 1_000) == ""
    assert await here.nodes() == (3, 5)

    await here.retention.sweep()

    assert await here.nodes() == (1, 2)
    assert await here.listed() == {"new"}


async def test_what_happened_too_long_ago_is_not_recorded(graph: GraphStore) -> None:
    here = opened(graph, ttl_days=10)
    assert await here.say(("old", 11), ("new", 9)) == ["expired", None]
    assert await here.say(("new", 11)) == [None]  # the conversation goes on
    assert await here.listed() == {"new"}


async def test_a_sweep_makes_room_after_a_quota_was_lowered(graph: GraphStore) -> None:
    await opened(graph).say(("a", 9), ("b", 8), ("c", 7))
    here = opened(graph, max_per_scope=1)
    await here.retention.sweep()
    assert await here.listed() == {"c"}
    assert await here.nodes() == (1, 1)


async def test_what_is_said_while_its_conversation_is_evicted_stays(graph: GraphStore) -> None:
    here = opened(graph)
    await here.say(("a", 9))
    key = ConversationKey(ANN, "a")
    stale = {record("a", 9).id: key.id}
    await here.say(("a", 1))
    await Forgetting(here.store, graph).delete(ANN, stale)
    assert await here.said("a") == ["question of 1"]


async def test_the_service_rejects_without_dead_letters_and_goes_on(tmp_path: Path) -> None:
    services = {"conversations": {"max-per-scope": 1, "when-full": "reject"}}
    async with running_flow(tmp_path, services) as flow:
        await update(flow.caller, "zero", conversation_id="a")
        await flow.caller.publish(INVOCATION_ENDED, run("r1", conversation_id="a"))
        await flow.caller.publish(INVOCATION_ENDED, run("r2", conversation_id="b"))
        await flow.caller.publish(INVOCATION_ENDED, run("r3", conversation_id="b", user="bob"))
        with pytest.raises(CallFailedError, match="max-per-scope") as failed:
            await update(flow.caller, "one", conversation_id="c")

        async def bobs() -> bool:
            request = ListConversationsRequest(user="bob")
            return (await flow.caller.call(LIST_CONVERSATIONS, request)).total == 1

        await wait_until(bobs)
        listed = await flow.caller.call(LIST_CONVERSATIONS, ListConversationsRequest(user="ann"))
        assert [each.conversation_id for each in listed.conversations] == ["a"]
        assert failed.value.type == "quota-exceeded"
        assert await list_dead_letters(flow.bus, "conversations") == []
