"""Facts that say themselves which others they supersede, and facts that may contradict others."""

import itertools
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.memory.facts.stores import ANN, BOB, Opened, at, opened, said

OLD = "The nurse on the ward is Jonas"
NEW = "They replaced him by Kim in spring"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path) as store:
        yield store


async def valid(store: Opened) -> list[str]:
    facts, _ = await store.facts.page(ANN, 10, 0, superseded=False)
    return [fact.content for fact in facts]


async def test_what_a_fact_names_is_superseded_by_it(store: Opened) -> None:
    old = await store.say(OLD, 1)
    (stored,) = await store.facts.store([said(NEW, 2, replaces=(old,))])

    assert stored.superseded == (old,)
    assert await valid(store) == [NEW]
    named = await store.facts.get(ANN, old)
    assert named is not None
    assert named.superseded_by == stored.id
    assert await store.found("nurse ward Jonas") == [NEW]
    assert await store.found("nurse ward Jonas", superseded=True) == [NEW, OLD]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_it_is_the_same_in_any_order(store: Opened, order: tuple[int, ...]) -> None:
    old = said(OLD, 1)
    facts = [old, said(NEW, 2, replaces=(old.fact.id,)), said(NEW, 3)]
    for index in [*order, *order]:
        await store.facts.store([facts[index]])

    assert await valid(store) == [NEW]
    named = await store.facts.get(ANN, old.fact.id)
    assert named is not None
    assert named.valid_until == facts[1].fact.stated_at


async def test_what_is_said_again_later_is_valid_again(store: Opened) -> None:
    old = await store.say(OLD, 1)
    await store.say(NEW, 2, replaces=(old,))
    await store.say(OLD, 3)
    assert set(await valid(store)) == {OLD, NEW}


async def test_a_fact_that_is_newer_or_the_same_is_not_superseded(store: Opened) -> None:
    newer = said(OLD, 3)
    await store.facts.store([newer])
    itself = said(NEW, 2, replaces=(newer.fact.id, "no such fact", said(NEW, 1).fact.id))
    await store.facts.store([itself])
    assert set(await valid(store)) == {OLD, NEW}


async def test_nobody_supersedes_the_facts_of_others(store: Opened) -> None:
    mine = said(OLD, 1)
    theirs = said(NEW, 2, BOB, replaces=(mine.fact.id,))
    await store.facts.store([mine, theirs])
    await store.facts.store([theirs, mine, said("I like tea", 3)])

    assert set(await valid(store)) == {OLD, "I like tea"}
    assert await store.facts.get(BOB, mine.fact.id) is None


async def test_without_the_fact_that_named_it_it_is_valid_again(store: Opened) -> None:
    old = await store.say(OLD, 1)
    new = await store.say(NEW, 2, replaces=(old,))
    await store.facts.forget(ANN, new)
    await store.say("I like tea", 3)

    assert set(await valid(store)) == {OLD, "I like tea"}
    assert await store.found("nurse ward Jonas") == [OLD, "I like tea"]


async def test_the_first_one_that_supersedes_counts(store: Opened) -> None:
    paris = await store.say("I live in Paris", 1)
    moved = await store.say("I moved to Rome", 2)
    named = await store.say("Rome it is for good, the flat is mine", 3, replaces=(paris,))
    fact = await store.facts.get(ANN, paris)
    assert fact is not None
    assert fact.superseded_by == moved

    await store.facts.forget(ANN, moved)
    fact = await store.facts.get(ANN, paris)
    assert fact is not None
    assert fact.superseded_by == named


async def test_a_named_fact_stays_superseded_when_its_slot_changes(store: Opened) -> None:
    rome = await store.say("My sister lives in Rome", 1)
    await store.say("She has left Italy", 2, replaces=(rome,))
    await store.say("My sister lives in Milan", 3)
    assert set(await valid(store)) == {"She has left Italy", "My sister lives in Milan"}


async def test_what_is_said_after_a_scope_was_forgotten_still_supersedes(store: Opened) -> None:
    old = said(OLD, 4)
    await store.say("I like tea", 1)
    await store.facts.store([said(NEW, 5, replaces=(old.fact.id,))])
    await store.facts.forget_scope(ANN, at(3))
    await store.facts.store([old])
    assert await valid(store) == [NEW]


async def test_two_values_that_may_contradict_each_other_are_linked(store: Opened) -> None:
    rome = await store.say("My sister lives in Rome", 1)
    milan = await store.say("My sister lives in Milan", 2)
    facts = {each: await store.facts.get(ANN, each) for each in (rome, milan)}
    assert facts[rome].possible_conflicts == (milan,)  # type: ignore[union-attr]
    assert facts[milan].possible_conflicts == (rome,)  # type: ignore[union-attr]
    assert (await store.found("Where does my sister live? In Rome?"))[0].endswith("Milan")

    await store.facts.forget(ANN, rome)
    left = await store.facts.get(ANN, milan)
    assert left is not None
    assert left.possible_conflicts == ()
    assert left.to_fact().possible_conflicts == ()


async def test_a_superseded_fact_conflicts_with_nothing(store: Opened) -> None:
    rome = await store.say("My sister lives in Rome", 1)
    milan = await store.say("My sister moved to Milan", 2)
    for each in (rome, milan):
        fact = await store.facts.get(ANN, each)
        assert fact is not None
        assert fact.possible_conflicts == ()
