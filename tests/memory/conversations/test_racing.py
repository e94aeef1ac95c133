"""Replicas that add to a conversation and delete it at once, as while one joins and one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from neo4j import AsyncGraphDatabase, AsyncTransaction

from fourtier.engines.timestamps import parse_time
from fourtier.memory.conversations.forgetting import Forgetting
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.store import SCHEMA, ConversationStore
from fourtier.memory.tombstones.selection import Selection
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope
from tests.cluster.servers import SERVERS
from tests.memory.conversations.support import START, run
from tests.support.graphs import GRAPHS, Interrupted, graph_of
from tests.support.waiting import wait_until

ROUNDS = 30
ALONE = """
MATCH (i:Invocation)
WHERE i.scope = $scope AND NOT EXISTS { MATCH (c:Conversation)-[:INVOLVED]->(i) }
RETURN i.invocation_id AS id
"""
OF_SCOPE = "MATCH (n) WHERE n.scope = $scope RETURN n.id AS id"


async def forget(forgetting: Forgetting, key: ConversationKey, at: datetime) -> bool:
    """Forget a conversation; returns whether there was any of it."""
    request = EraseRequest(
        user=key.scope.user,
        collection=key.scope.collection,
        conversation_id=key.conversation_id,
    )
    return bool(await forgetting.erase(key.scope, Selection.of(request), at))


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
            *map(append, replicas[1:], names[1:]), forget(replicas[0], key, datetime.now(UTC))
        )
        deleted.append(found)

        assert await graph.read(key.scope, ALONE) == []
        found, _ = await ConversationStore(graph).oldest(key, 0, 100)
        left = {each.id for each in found.invocations}
        assert left <= set(names[1:])

    assert all(deleted)
    await forget(replicas[0], key, datetime.now(UTC))
    assert await graph.read(key.scope, OF_SCOPE) == []


#: Calls of a deletion to the graph: tombstones are read and written, the invocations are read until
#: there are no more, they are deleted, those that are left are read, and what is empty is deleted.
DELETE_EMPTY = 2 + 2 + 1 + 1 + 1
ADD = """
MATCH (c:Conversation {id: $id})
SET c.ended_reason = c.ended_reason
CREATE (c)-[:INVOLVED]->(:Invocation {id: $id + "/late", scope: $scope, invocation_id: "late"})
"""
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server")
async def test_what_is_added_while_a_deletion_waits_keeps_its_conversation(tmp_path: Path) -> None:
    key = ConversationKey(Scope(f"ann-{new_id()}", "default"), "c1")
    async with (
        graph_of("neo4j", tmp_path, SCHEMA) as graph,
        AsyncGraphDatabase.driver(str(SERVERS.neo4j_url)) as driver,
        driver.session() as session,
    ):
        interrupted = Interrupted(graph)
        now = datetime.now(UTC)
        first = InvocationRecord.from_run(run("first", user=key.scope.user, at=now), now)
        await ConversationStore(graph).append([first], now)
        adding: list[AsyncTransaction] = []

        async def add() -> None:
            adding.append(await session.begin_transaction())
            await adding[0].run(ADD, id=key.id, scope=key.scope.key)

        async def blocked() -> bool:
            return bool((await driver.execute_query(BLOCKED)).records)

        interrupted.before_call(DELETE_EMPTY, add)
        forgetting = Forgetting(ConversationStore(interrupted), interrupted)
        deleting = asyncio.create_task(forget(forgetting, key, datetime.now(UTC)))
        await wait_until(blocked)
        await adding[0].commit()
        assert await deleting

        assert await graph.read(key.scope, ALONE) == []
        left = await graph.read(key.scope, OF_SCOPE)
        assert {f"{key.id}/late", key.id} <= {str(row["id"]) for row in left}
        await forgetting.delete(key.scope, {f"{key.id}/late": key.id})


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
    graph.before_call(WRITE, lambda: forget(Forgetting(other, other._graph), KEY, START))
    await record(one, run("second"))

    assert await recorded(one) == [("second", "Yes.")]


async def test_what_is_replaced_while_the_conversation_is_deleted_begins_it_again(
    replicas: tuple[Interrupted, ConversationStore, ConversationStore],
) -> None:
    graph, one, other = replicas
    graph.before_call(CONVERSATIONS, lambda: forget(Forgetting(other, other._graph), KEY, START))
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
    assert parse_time(state.active_at) == START + timedelta(minutes=10)
