"""Replicas that write one run's steps at once, as while one joins and one leaves."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.memory.working_memory.records import RunKey
from fourtier.memory.working_memory.store import SCHEMA, TraceStore
from fourtier.memory.working_memory.traces import Traces
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.working_memory import AppendWorkingMemoryRequest, WorkingMemoryItem
from tests.memory.working_memory.support import item
from tests.support.graphs import GRAPHS, Interrupted, graph_of

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

        run = await replicas[0].get(key, full=True)
        assert [each.step for each in run.trace.items] == list(range(2 * REPLICAS))


#: Calls of an append or a discard to the graph: the runs, their items, the write.
WRITE = 3


def asked(*items: WorkingMemoryItem) -> list[AppendWorkingMemoryRequest]:
    return [AppendWorkingMemoryRequest(user="ann", run_id="r1", items=items)]


THOUGHT, SECOND, ANSWER = item(0, "thought", "Hm"), item(1, "thought", "So"), item(2, "answer", "4")
KEY = RunKey.of(asked(THOUGHT)[0])


@pytest.fixture
async def replicas(tmp_path: Path) -> AsyncGenerator[tuple[Interrupted, Traces, Traces]]:
    """A graph, a replica that can be interrupted on it, and another one. A run has begun."""
    async with graph_of("ladybug", tmp_path, SCHEMA) as graph:
        interrupted = Interrupted(graph)
        one, other = Traces(TraceStore(interrupted), None), Traces(TraceStore(graph), None)
        await one.append(asked(THOUGHT))
        yield interrupted, one, other


async def test_an_answer_that_came_meanwhile_is_stored(
    replicas: tuple[Interrupted, Traces, Traces],
) -> None:
    graph, one, other = replicas
    graph.before_call(WRITE, lambda: other.append(asked(ANSWER)))
    await one.append(asked(SECOND))

    run = await one.get(KEY, full=True)
    assert [each.id for each in run.trace.items] == [THOUGHT.id, SECOND.id, ANSWER.id]
    assert run.answer == "4"


async def test_a_run_that_was_discarded_meanwhile_stays_so(
    replicas: tuple[Interrupted, Traces, Traces],
) -> None:
    graph, one, other = replicas

    async def end() -> None:
        await other.append(asked(SECOND, ANSWER))
        await other.discard(KEY)

    graph.before_call(WRITE, end)
    await one.append(asked(SECOND))

    run = await one.get(KEY, full=True)
    assert not run.trace.items
    assert run.answer == "4"


async def test_discarding_keeps_an_answer_that_came_meanwhile(
    replicas: tuple[Interrupted, Traces, Traces],
) -> None:
    graph, one, other = replicas
    graph.before_call(WRITE, lambda: other.append(asked(ANSWER)))
    assert await one.discard(KEY) == 2

    assert (await one.get(KEY, full=True)).answer == "4"
