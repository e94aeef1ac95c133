"""Replicas that add to a conversation and delete it at once, as while one joins and one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.engines.graph.protocol import GraphStore
from fourtier.engines.timestamps import as_moment
from fourtier.memory.conversations.forgetting import Forgetting
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.store import SCHEMA, ConversationStore
from fourtier.runtime.rpc.envelope import new_id
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.message import Scope
from tests.memory.conversations.support import START, run
from tests.support.graphs import GRAPHS, Interrupted, graph_of

ROUNDS = 30
ALONE = """
MATCH (i:Invocation)
WHERE i.scope = $scope AND NOT EXISTS { MATCH (c:Conversation)-[:INVOLVED]->(i) }
RETURN i.invocation_id AS id
"""
OF_SCOPE = "MATCH (n) WHERE n.scope = $scope RETURN n.id AS id"


@pytest.fixture(params=GRAPHS)
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphStore]:
    async with graph_of(request.param, tmp_path, SCHEMA) as graph:
        yield graph


async def test_a_deletion_leaves_no_invocation_without_a_conversation(graph: GraphStore) -> None:
    key = ConversationKey(Scope(f"ann-{new_id()}", "default"), "c1")
    replicas = [Forgetting(ConversationStore(graph), graph) for _ in range(3)]

    async def append(replica: Forgetting, name: str) -> None:
        now = datetime.now(UTC)
        await replica.append(
            [InvocationRecord.from_run(run(name, user=key.scope.user, at=now), now)], now
        )

    deleted = []
    for turn in range(ROUNDS):
        names = [f"run {turn} {number}" for number in range(len(replicas))]
        await append(replicas[0], names[0])
        *_, found = await asyncio.gather(
            *map(append, replicas[1:], names[1:]), replicas[0].forget(key, datetime.now(UTC))
        )
        deleted.append(found)

        assert await graph.read(key.scope, ALONE) == []
        found, _ = await ConversationStore(graph).oldest(key, 0, 100)
        left = {each.id for each in found.invocations}
        assert left <= set(names[1:])

    assert all(deleted)
    await replicas[0].forget(key, datetime.now(UTC))
    assert await graph.read(key.scope, OF_SCOPE) == []


#: Calls of an append to the graph: the invocations, their conversations, the write.
CONVERSATIONS, WRITE = 2, 3


@pytest.fixture
async def replicas(
    tmp_path: Path,
) -> AsyncGenerator[tuple[Interrupted, ConversationStore, ConversationStore]]:
    """A graph, a replica that can be interrupted on it, and another one. A run is recorded."""
    async with graph_of("ladybug", tmp_path, SCHEMA) as graph:
        interrupted = Interrupted(graph)
        one, other = ConversationStore(interrupted), ConversationStore(graph)
        await record(one, run("first"))
        yield interrupted, one, other


KEY = ConversationKey(Scope("ann", "default"), "c1")


async def record(store: ConversationStore, event: InvocationEnded) -> None:
    now = datetime.now(UTC)
    await store.append([InvocationRecord.from_run(event, now)], now)


async def recorded(store: ConversationStore) -> list[tuple[str, str]]:
    found, _ = await store.oldest(KEY, 0, 100)
    return [(each.id, each.result) for each in found.invocations]


async def test_what_is_added_while_the_conversation_is_deleted_begins_it_again(
    replicas: tuple[Interrupted, ConversationStore, ConversationStore],
) -> None:
    graph, one, other = replicas
    graph.before_call(WRITE, lambda: Forgetting(other, other._graph).forget(KEY, START))
    await record(one, run("second"))

    assert await recorded(one) == [("second", "Yes.")]


async def test_what_is_replaced_while_the_conversation_is_deleted_begins_it_again(
    replicas: tuple[Interrupted, ConversationStore, ConversationStore],
) -> None:
    graph, one, other = replicas
    graph.before_call(CONVERSATIONS, lambda: Forgetting(other, other._graph).forget(KEY, START))
    await record(one, run("first", answer="No."))

    assert await recorded(one) == [("first", "No.")]


async def test_a_conversation_does_not_get_less_active(
    replicas: tuple[Interrupted, ConversationStore, ConversationStore],
) -> None:
    graph, one, other = replicas
    graph.before_call(WRITE, lambda: record(other, run("third", minute=10)))
    await record(one, run("second", minute=8))

    state = await one.state(KEY)
    assert state is not None
    assert as_moment(state.active_at) == START + timedelta(minutes=10)
