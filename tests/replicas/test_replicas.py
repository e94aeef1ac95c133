"""Two processes of each service on one flow, on Pulsar and Neo4j; some join, some leave, some die.

What is asserted is order and overlap, never a time. Questions are sent without waiting for answers,
so that those of a conversation queue up behind each other, and a scripted model holds its answers
back while processes come and go, so that there is always work in flight. The event that the agent
publishes says when a run began and ended; a tool says in which process it ran.

Qdrant is the one engine that tests cannot start, for it is in no package. Two processes
cannot share the embedded engine's directory, and with a directory each, every one would know half
of the episodes. So they share `tests/support/qdrant.py`: the client's own local mode behind HTTP,
or a real server where FOURTIER_TEST_QDRANT_URL names one.
"""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from fourtier.schema.facts import STORE_FACT
from tests.chaos.tools import users
from tests.cluster.servers import SERVERS
from tests.replicas.asking import asking
from tests.replicas.flow import STATEFUL, ReplicatedFlow, replicated_flow
from tests.replicas.judging import assert_in_order, assert_nothing_lost_or_doubled
from tests.replicas.stating import (
    assert_one_line_in_time,
    connected_twice,
    forget_and_replace_at_once,
    state_at_once,
)

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not SERVERS.flows, reason="needs Java: make test-cluster"),
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

#: Conversations of four users, three of each.
CONVERSATIONS = 12


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[ReplicatedFlow]:
    async with replicated_flow(tmp_path_factory.mktemp("replicas")) as flow:
        yield flow


@pytest_asyncio.fixture(loop_scope="module")
async def flow(running: ReplicatedFlow) -> AsyncGenerator[ReplicatedFlow]:
    """Two processes of each service, whatever a test before has done to them."""
    await running.fill_up()
    yield running
    running.script.go_on()


async def test_runs_of_different_users_are_concurrent_and_those_of_one_conversation_are_not(
    flow: ReplicatedFlow,
) -> None:
    async with asking(flow) as asked:
        # All twelve at one time, for none of them gets an answer.
        first = await asked.ask_with_runs_in_flight(CONVERSATIONS)
        # With twelve keys it would happen, one time in two thousand, that all fall to one agent.
        first += await asked.ask(CONVERSATIONS, alone=True)
        flow.script.go_on()
        await asked.finished(3 * CONVERSATIONS)
    agents = {process.pid for process in flow.replicas["agent"]}
    ran_in = users(flow.ledger, "pay")
    assert {ran_in[run.name] for run in first} == agents, "one agent did all the work"
    assert_in_order(asked)


@pytest.mark.slow
async def test_replicas_join_and_leave_and_nothing_is_lost_doubled_or_out_of_order(
    flow: ReplicatedFlow,
) -> None:
    async with asking(flow) as asked:
        await asked.ask_with_runs_in_flight(CONVERSATIONS)
        await flow.join()
        # With twelve keys it would happen, one time in a hundred, that none falls to the third.
        new = await asked.ask(2 * CONVERSATIONS, alone=True)
        after_joining = [*new, *await asked.ask(2 * CONVERSATIONS)]
        flow.script.go_on()
        await asked.finished(2 * CONVERSATIONS)

        flow.script.hold()
        await asked.ask(CONVERSATIONS)
        leaving = await flow.begin_to_leave()
        await asked.ask(CONVERSATIONS)
        flow.script.go_on()
        codes = {process.name: await process.ended() for process in leaving}
        await asked.finished(8 * CONVERSATIONS)

        assert set(codes.values()) == {0}, codes
        joined = flow.replicas["agent"][-1].pid
        ran_in = users(flow.ledger, "pay")
        assert joined in {ran_in[run.name] for run in after_joining}, "the third had nothing to do"
        assert_in_order(asked)
        await assert_nothing_lost_or_doubled(flow, asked)


@pytest.mark.slow
async def test_killed_replicas_leave_their_work_to_the_others(flow: ReplicatedFlow) -> None:
    async with asking(flow) as asked:
        await asked.ask_with_runs_in_flight(CONVERSATIONS)
        await flow.kill(STATEFUL)
        await asked.ask(CONVERSATIONS)
        flow.script.go_on()
        await asked.finished(3 * CONVERSATIONS)
        assert_in_order(asked)
        await assert_nothing_lost_or_doubled(flow, asked)


async def test_facts_of_one_user_that_many_state_at_once_are_one_line_in_time(
    flow: ReplicatedFlow,
) -> None:
    before = await flow.shares("facts", STORE_FACT.topic.name)
    async with connected_twice(flow) as clients:
        async for facts in state_at_once(clients):
            assert_one_line_in_time(facts)
    after = await flow.shares("facts", STORE_FACT.topic.name)
    assert all(now > then for then, now in zip(before, after, strict=True)), (before, after)


async def test_a_fact_is_forgotten_while_another_replaces_it(flow: ReplicatedFlow) -> None:
    async with connected_twice(flow) as clients:
        for facts in await forget_and_replace_at_once(clients):
            assert_one_line_in_time(facts)
            assert len(facts) == 2
