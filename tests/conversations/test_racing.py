"""Replicas that add to a conversation and delete it at once, as while one joins and one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.conversations.records import ConversationKey, InvocationRecord
from fourtier.conversations.store import SCHEMA, ConversationStore
from fourtier.engines.graph.protocol import GraphStore
from fourtier.runtime.envelope import new_id
from fourtier.schema.message import Scope
from tests.conversations.support import run
from tests.support.graphs import GRAPHS, graph_of

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
    replicas = [ConversationStore(graph) for _ in range(3)]

    async def append(replica: ConversationStore, name: str) -> None:
        record = InvocationRecord.from_run(run(name, user=key.scope.user))
        await replica.append([record], datetime.now(UTC))

    deleted = []
    for turn in range(ROUNDS):
        names = [f"run {turn} {number}" for number in range(len(replicas))]
        await append(replicas[0], names[0])
        *_, found = await asyncio.gather(
            *map(append, replicas[1:], names[1:]), replicas[0].delete(key)
        )
        deleted.append(found)

        assert await graph.read(key.scope, ALONE) == []
        left = {each.id for each in (await replicas[0].get(key, None)).invocations}
        assert left <= set(names[1:])

    assert all(deleted)
    await replicas[0].delete(key)
    assert await graph.read(key.scope, OF_SCOPE) == []
