"""Replicas that write one run's steps at once, as while one joins and one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.engines.graph.protocol import GraphStore
from fourtier.runtime.envelope import new_id
from fourtier.schema.working_memory import AppendWorkingMemoryRequest
from fourtier.working_memory.records import RunKey
from fourtier.working_memory.store import SCHEMA, TraceStore
from fourtier.working_memory.traces import Traces
from tests.support.graphs import GRAPHS, graph_of
from tests.working_memory.support import item

REPLICAS, ROUNDS = 3, 10


@pytest.fixture(params=GRAPHS)
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphStore]:
    async with graph_of(request.param, tmp_path, SCHEMA) as graph:
        yield graph


async def test_steps_from_several_replicas_are_all_in_the_trace(graph: GraphStore) -> None:
    replicas = [Traces(TraceStore(graph), None) for _ in range(REPLICAS)]
    user = f"ann-{new_id()}"
    for turn in range(ROUNDS):
        requests = [
            AppendWorkingMemoryRequest(
                user=user, run_id=f"r{turn}", items=(item(number, "thought", f"Thought {number}"),)
            )
            for number in range(2 * REPLICAS)
        ]
        key = RunKey.of(requests[0])
        for some in (requests[:REPLICAS], requests[REPLICAS:]):  # of a new run, of a known one
            await asyncio.gather(
                *(
                    replica.append([request])
                    for replica, request in zip(replicas, some, strict=True)
                )
            )

        trace, _ = await replicas[0].get(key, full=True)
        assert [each.step for each in trace.items] == list(range(2 * REPLICAS))
