"""Who has opted out, whatever the order in which that was asked for and heard of."""

import itertools
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.opt_outs import SCHEMA, OptOuts
from fourtier.runtime.service.stores.graph import GraphStore, Statement
from tests.support.graphs import GRAPHS, graph_of

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def at(hours: float) -> datetime:
    return MONDAY + timedelta(hours=hours)


@pytest.fixture(params=GRAPHS)
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[GraphStore]:
    async with graph_of(request.param, tmp_path, SCHEMA) as store:
        await store.write(None, Statement("MATCH (o:OptOut) DETACH DELETE o"))
        yield store


def opt_outs(graph: GraphStore, *by_flow: str) -> OptOuts:
    return OptOuts(graph, SCHEMA.nodes[0], by_flow)


async def unsaid(store: OptOuts, *hours: float, user: str = "ann") -> list[bool]:
    return await store.excluded([(user, as_text(at(each))) for each in hours])


async def test_nothing_of_whoever_is_opted_out_is_stored(graph: GraphStore) -> None:
    store = opt_outs(graph)
    await store.opt_out("ann", at(2))

    assert await store.is_out("ann")
    assert (await store.of("ann")).out_since == at(2)
    assert await unsaid(store, 1, 3) == [True, True]
    assert await unsaid(store, 3, user="ann2") == [False]


async def test_what_was_said_while_opted_out_stays_unsaid(graph: GraphStore) -> None:
    store = opt_outs(graph)
    await store.opt_out("ann", at(2))
    await store.opt_in("ann", at(4))

    assert not await store.is_out("ann")
    assert (await store.of("ann")).out_since is None
    assert await unsaid(store, 1, 2, 3, 4, 5) == [False, True, True, True, False]


async def test_what_was_said_before_a_user_forgot_everything_does_not_come_back(
    graph: GraphStore,
) -> None:
    store = opt_outs(graph)
    await store.opt_out("ann", at(2), forget=True)
    await store.opt_in("ann", at(4))
    assert await unsaid(store, -1_000, 3, 5) == [True, True, False]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
async def test_commands_may_come_in_any_order_and_twice(
    graph: GraphStore, order: tuple[int, ...]
) -> None:
    store = opt_outs(graph)
    for number in (*order, order[0]):
        if number % 2:
            await store.opt_in("ann", at(number))
        else:
            await store.opt_out("ann", at(number))
    known = await store.of("ann")
    assert (known.first, known.since, known.until) == tuple(as_text(at(n)) for n in (0, 2, 3))
    assert not known.is_out


async def test_the_flow_opts_out_as_well(graph: GraphStore) -> None:
    store = opt_outs(graph, "guest")
    assert await store.is_out("guest")
    assert await unsaid(store, 1, user="guest") == [True]
    assert not await store.is_out("ann")


async def test_who_has_opted_out_cannot_be_read_from_the_store(graph: GraphStore) -> None:
    await opt_outs(graph).opt_out("ann@example.org", at(1))
    rows = await graph.read(None, "MATCH (o:OptOut) RETURN o.id AS id, o.since AS since")
    assert len(rows) == 1
    assert "ann" not in str(rows)
