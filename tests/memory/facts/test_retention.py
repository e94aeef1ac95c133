"""A quota of facts, and a time to live: what goes, what stays, and that it is erased."""

import random
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.facts.graph import OPT_OUTS, SCHEMA, ScopedFact
from fourtier.memory.facts.retention import FactMemories, RetainedFacts
from fourtier.memory.facts.store import FactStore
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.runtime.errors import QuotaExceededError
from fourtier.runtime.service.stores.graph import Statement
from tests.memory.facts.stores import ANN, BOB, MONDAY, Opened, opened, said
from tests.support.graphs import GRAPHS, Interrupted, graph_of

NOW = MONDAY + timedelta(days=30)


@pytest.fixture(params=GRAPHS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path, opening=graph_of(request.param, tmp_path, SCHEMA)) as store:
        for label in ("Fact", "FactVersion", "FactTombstone", "FactReplacement"):
            await store.graph.write(None, Statement(f"MATCH (n:{label}) DETACH DELETE n"))
        yield store


def retained(
    store: Opened,
    when_full: str = "evict-superseded-first",
    now: datetime = NOW,
    **parameters: float,
) -> tuple[RetainedFacts, Retention]:
    settings = RetentionParameters.model_validate(parameters)
    memories = FactMemories(store.graph, store.facts, when_full)
    evicts = when_full != "reject"
    retention = Retention("fact", memories, settings, evicts=evicts, now=lambda: now)
    return RetainedFacts(store.facts, memories, retention), retention


async def contents(store: Opened, scope: Any = ANN) -> list[str]:
    """What is stored; the vectors have the same."""
    facts, _ = await store.facts.page(scope, 100, 0, superseded=True)
    assert {hit.id for hit in await store.vectors.scroll(scope, 100)} == {f.id for f in facts}
    return [fact.content for fact in facts]


def likes(*numbers: int) -> list[ScopedFact]:
    """Facts that bear on no other, each said so many hours after Monday morning."""
    return [said(f"I like song {number}", number) for number in numbers]


def songs(*numbers: int) -> list[str]:
    return [f"I like song {number}" for number in numbers]


async def test_the_oldest_go_when_a_scope_is_full(store: Opened) -> None:
    facts, _ = retained(store, max_per_scope=3)
    await facts.store([said("I like Bob", 0, BOB)])

    for each in likes(2, 1, 4, 3, 5):
        await facts.store([each])

    assert await contents(store) == songs(5, 4, 3)
    assert await contents(store, BOB) == ["I like Bob"]
    assert set(await store.found("song")) == set(songs(3, 4, 5))


async def test_superseded_facts_go_before_older_valid_ones(store: Opened) -> None:
    facts, _ = retained(store, max_per_scope=2)
    await facts.store(likes(1))
    await facts.store([said("I live in Oslo", 2)])

    (stored,) = await facts.store([said("I live in Bergen", 3)])

    assert stored.created
    assert await contents(store) == ["I live in Bergen", *songs(1)]


async def test_by_age_an_older_valid_fact_goes_before_a_superseded_one(store: Opened) -> None:
    facts, _ = retained(store, "evict-oldest", max_per_scope=2)
    await facts.store(likes(1))
    await facts.store([said("I live in Oslo", 2)])
    await facts.store([said("I live in Bergen", 3)])
    assert await contents(store) == ["I live in Bergen", "I live in Oslo"]


@pytest.mark.parametrize("when_full", ["evict-superseded-first", "evict-oldest"])
async def test_an_eviction_makes_no_old_value_valid_again(store: Opened, when_full: str) -> None:
    facts, _ = retained(store, when_full, max_per_scope=2)
    old = said("I live in Oslo", 1)
    towns = (said(f"I now live in {town}", 1) for town in ("Bergen", "Rome", "Bonn", "Lima"))
    new = next(each for each in towns if each.fact.id < old.fact.id)  # else age alone would do
    await facts.store([old, new])
    await facts.store(likes(2))
    assert await contents(store) == [*songs(2), new.fact.content]


async def test_an_evicted_fact_that_comes_again_goes_again(store: Opened) -> None:
    facts, _ = retained(store, max_per_scope=2)
    await facts.store(likes(1, 2, 3))

    (again,) = await facts.store(likes(1))

    assert (again.created, again.not_stored) == (False, "evicted")
    assert await contents(store) == songs(3, 2)


async def test_it_comes_back_where_there_is_room_again(store: Opened) -> None:
    """There is no tombstone of it: nobody has forgotten it."""
    facts, _ = retained(store, max_per_scope=2)
    await facts.store(likes(1, 2, 3))
    await store.facts.forget(ANN, likes(3)[0].fact.id)

    (again,) = await facts.store(likes(1))

    assert (again.created, again.not_stored) == (True, None)
    assert await contents(store) == songs(2, 1)


async def test_what_is_said_again_is_as_young_as_its_last_statement(store: Opened) -> None:
    facts, _ = retained(store, max_per_scope=2)
    await facts.store(likes(1, 2))
    await facts.store([said("I like song 1", 9)])
    await facts.store(likes(3))
    assert await contents(store) == songs(1, 3)


@pytest.mark.parametrize("when_full", ["evict-superseded-first", "evict-oldest"])
async def test_whatever_the_order_the_same_facts_are_left(
    store: Opened, tmp_path: Path, when_full: str
) -> None:
    """Delivered in any order, in any batches and twice; compared with all of it at once."""
    statements = [
        *likes(*range(1, 9)),
        *(said(f"I live in {town}", hour) for hour, town in enumerate(("Oslo", "Rome", "Bonn"), 3)),
        said("I like song 2", 7),
    ]
    async with opened(tmp_path / "other") as other:
        whole, _ = retained(other, when_full, max_per_scope=5)
        await whole.store(statements)
        expected = await contents(other)
    facts, _ = retained(store, when_full, max_per_scope=5)
    for seed in range(10):
        chance = random.Random(seed)  # noqa: S311 - no secret
        await store.facts.forgetting.delete(ANN, [each.fact.id for each in statements], "9")
        for batch in _batches(statements, chance):
            await facts.store(batch)
        assert await contents(store) == expected


def _batches(statements: Sequence[ScopedFact], chance: random.Random) -> list[Sequence[ScopedFact]]:
    order = [*statements, *chance.sample(statements, 4)]
    chance.shuffle(order)
    batches: list[Sequence[ScopedFact]] = []
    while order:
        size = chance.randint(1, 4)
        batches.append(order[:size])
        order = order[size:]
    return batches


async def test_a_full_scope_rejects_what_is_new_and_nothing_else(store: Opened) -> None:
    facts, _ = retained(store, "reject", max_per_scope=2)
    await facts.store(likes(1, 2))

    with pytest.raises(QuotaExceededError, match="2 of at most 2 facts"):
        await facts.store(likes(3))
    (again,) = await facts.store([said("I like song 1", 9)])

    assert (again.created, again.not_stored) == (False, None)
    assert await contents(store) == songs(1, 2)


async def test_a_sweep_makes_room_after_a_quota_was_lowered(store: Opened) -> None:
    for each in (*likes(1, 2, 3), said("I like Bob", 1, BOB)):
        await store.facts.store([each])
    _, retention = retained(store, max_per_scope=1)

    await retention.sweep()

    assert await contents(store) == songs(3)
    assert await contents(store, BOB) == ["I like Bob"]


async def test_expired_facts_are_not_found_and_the_sweep_deletes_them(store: Opened) -> None:
    """Thirty days after Monday, facts of 29 days: what was said in the first day has expired."""
    for each in (*likes(1, 2, 30), said("I like Bob", 1, BOB)):
        await store.facts.store([each])
    facts, retention = retained(store, ttl_days=29)

    found = await facts.search(ANN, "I like song 1", None, 1, superseded=True)
    page, total = await facts.page(ANN, 10, 0, superseded=False)
    old, new = likes(1)[0].fact.id, likes(30)[0].fact.id
    assert [fact.content for fact, _ in found] == songs(30)
    assert ([fact.content for fact in page], total) == (songs(30), 1)
    assert await facts.get(ANN, old) is None
    assert await facts.get(ANN, new) is not None
    assert len(await contents(store)) == 3

    await retention.sweep()

    assert await contents(store) == songs(30)
    assert await contents(store, BOB) == []


async def test_what_was_said_too_long_ago_is_not_stored(store: Opened) -> None:
    facts, _ = retained(store, ttl_days=29)
    results = await facts.store(likes(1, 30))
    assert [each.not_stored for each in results] == ["expired", None]
    assert await contents(store) == songs(30)


async def test_two_replicas_that_sweep_at_once_delete_no_more_than_is_too_much(
    store: Opened,
) -> None:
    for each in likes(*range(1, 8)):
        await store.facts.store([each])
    one, other = (retained(store, max_per_scope=4)[1] for _ in range(2))
    for policy in (one, other):
        await policy.sweep()
    assert await contents(store) == songs(7, 6, 5, 4)


async def test_what_is_said_again_while_it_is_evicted_stays(store: Opened) -> None:
    await store.facts.store(likes(1, 2, 3))
    stale = {likes(1)[0].fact.id: likes(1)[0].fact.stated_at}
    await store.facts.store([said("I like song 1", 9)])
    assert await store.facts.forgetting.delete_unless_said_again(ANN, stale) == 0
    assert await contents(store) == songs(1, 3, 2)


async def test_who_opts_out_while_something_is_said_again_keeps_what_was_there(
    tmp_path: Path,
) -> None:
    """As found: the statement was taken out again, and with it the fact that it repeated."""
    async with opened(tmp_path) as store:
        await store.facts.store(likes(1))
        other = Interrupted(store.graph)
        opt_outs = OptOuts(other, OPT_OUTS)
        facts = FactStore(other, store.vectors, store.embedder, opt_outs)
        # The first two calls look for tombstones and opt-outs; the user opts out behind them.
        plain = OptOuts(store.graph, OPT_OUTS)
        other.before_call(3, lambda: plain.opt_out("ann", MONDAY + timedelta(hours=3)))

        results = await facts.store([said("I like song 1", 2), *likes(2)])

        assert [each.not_stored for each in results] == ["opted-out", "opted-out"]
        assert await contents(store) == songs(1)
