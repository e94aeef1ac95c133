"""Batches, failures in the middle, and forgetting."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from fourtier.engines.timestamps import as_text
from fourtier.runtime.service.stores.query import Equals
from fourtier.schema.message import Scope
from tests.memory.facts.stores import ANN, BOB, MONDAY, BrokenError, Opened, at, opened, said

OLD, NEW = "My Hawaii budget is 10,000 dollars", "My Hawaii budget is 12,000 dollars"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path) as store:
        yield store


async def test_a_batch_of_many_scopes_is_one_embedding_and_one_transaction(store: Opened) -> None:
    scopes = [Scope(f"user {number}", "default") for number in range(64)]

    stored = await store.facts.store([said("I live in Oslo", scope=each) for each in scopes])

    assert all(each.created for each in stored)
    assert len({each.id for each in stored}) == 64
    assert [len(texts) for texts in store.embedder.calls] == [1]
    assert store.graph.writes == 1
    assert [await store.found("Oslo", scope) for scope in scopes] == [["I live in Oslo"]] * 64


async def test_what_is_known_already_costs_nothing(store: Opened) -> None:
    batch = [said(OLD, 1), said(NEW, 2), said("I like tea", 3)]
    await store.facts.store(batch)
    store.embedder.calls.clear()
    store.graph.writes = 0

    again = await store.facts.store(batch)

    assert not any(each.created for each in again)
    assert again[1].superseded == (again[0].id,)
    assert store.embedder.calls == []
    assert store.graph.writes == 0


async def test_within_one_batch_the_newer_statement_supersedes(store: Opened) -> None:
    stored = await store.facts.store([said(NEW, 2), said(OLD, 1), said(OLD, 1, BOB)])

    assert [each.superseded for each in stored] == [(stored[1].id,), (), ()]
    assert await store.found("budget") == [NEW]
    assert await store.found("budget", BOB) == [OLD]


async def test_what_is_said_twice_in_one_batch_is_created_once(store: Opened) -> None:
    stored = await store.facts.store([said(OLD, 1), said(OLD, 2), said(NEW, 3)])

    assert [each.created for each in stored] == [True, False, True]
    assert stored[0].id == stored[1].id


async def test_one_statement_of_two_speakers_is_two_facts(store: Opened) -> None:
    await store.say("I live in Oslo", speaker="Ann")
    await store.say("I live in Oslo", speaker="Tom")
    await store.say("I moved to Bergen", 2, speaker="Tom")

    facts, total = await store.facts.page(ANN, 10, 0, superseded=False)

    assert total == 2
    assert {(each.speaker, each.content) for each in facts} == {
        ("Ann", "I live in Oslo"),
        ("Tom", "I moved to Bergen"),
    }


@pytest.mark.parametrize("speaker", ["", "user", "Ann", "ann"])
async def test_the_user_is_who_speaks_if_nobody_else_is_named(store: Opened, speaker: str) -> None:
    first = await store.say("I live in Oslo", speaker="ann")
    assert await store.say("I live in Oslo", speaker=speaker) == first


async def test_what_is_explicit_needs_no_similar_words(store: Opened) -> None:
    await store.say("Ann earns her bread at Equinor", 1, subject="Ann", attribute="employer")
    await store.say("Telenor pays Ann since May", 2, subject=" ann ", attribute="Employer")
    await store.say("Tom is paid by Telia", 3, subject="Tom", attribute="employer")
    await store.say("Ann has a house in Oslo", 4, subject="Ann", attribute="house")

    assert sorted(await store.found("?")) == [
        "Ann has a house in Oslo",
        "Telenor pays Ann since May",
        "Tom is paid by Telia",
    ]


async def test_explicit_and_plain_statements_are_of_one_thing(store: Opened) -> None:
    await store.say("I work at Equinor", 1, speaker="ann")
    await store.say("Telenor pays Ann now", 2, subject="user", attribute="employer")
    assert await store.found("?") == ["Telenor pays Ann now"]

    await store.say("I work at Telia", 3, speaker="ann")
    assert await store.found("?") == ["I work at Telia"]


async def test_explicit_names_are_taken_word_for_word(store: Opened) -> None:
    await store.say("10k for Hawaii", 1, subject="user", attribute="Hawaii budget")
    await store.say("2k for the flights", 2, subject="user", attribute="Hawaii flight budget")
    assert len(await store.found("?")) == 2


async def test_a_short_name_of_two_things_replaces_neither(store: Opened) -> None:
    await store.say("My budget for the Hawaii food is 900 dollars", 1)
    await store.say("My Hawaii budget is now 9,000 dollars", 3)
    assert len(await store.found("budget")) == 1

    await store.say("My budget for the Hawaii hotel is 4,000 dollars", 2)
    assert len(await store.found("budget")) == 3


async def test_of_one_message_the_correction_is_the_last_word(store: Opened) -> None:
    for number in range(5):
        first = said(f"My limit number {number} is 10 dollars")
        second = said(f"Actually, my limit number {number} is 12 dollars")
        await store.facts.store([first, second])

    assert all(each.startswith("Actually") for each in await store.found("limit"))


async def test_validity_ends_when_the_successor_was_first_stated(store: Opened) -> None:
    old, new = await store.say(OLD, 1), await store.say(NEW, 2)
    await store.say(NEW, 9)

    facts, _ = await store.facts.page(ANN, 10, 0, superseded=True)

    ends = {each.id: each.valid_until for each in facts}
    assert ends == {new: "", old: as_text(MONDAY + timedelta(hours=2))}


async def test_a_superseded_fact_stands_behind_its_successors(store: Opened) -> None:
    for hours, thousands in enumerate((10, 11, 12, 13)):
        await store.say(f"My Hawaii budget is {thousands},000 dollars", hours)
    await store.say("I like tea", 9)

    found = await store.facts.search(ANN, "10,000 dollars budget", None, 2, superseded=True)

    assert [fact.content for fact, _ in found] == [
        "My Hawaii budget is 13,000 dollars",  # what holds now, though others fit better
        "My Hawaii budget is 10,000 dollars",
    ]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)


async def test_a_failure_between_graph_and_vectors_is_healed_by_repetition(store: Opened) -> None:
    await store.say(OLD, 1)
    store.vectors.fail_before = "upsert"
    with pytest.raises(BrokenError):
        await store.say(NEW, 2)
    store.vectors.fail_before = ""

    assert await store.found("budget") == []  # the graph knows, the vectors do not
    await store.say(NEW, 2)

    assert await store.found("budget") == [NEW]
    assert await store.vectors.count(ANN, [Equals("valid", "yes")]) == 1


async def test_an_embedding_that_fails_leaves_nothing_behind(store: Opened) -> None:
    async def fail(_texts: object) -> list[object]:
        raise BrokenError

    store.facts._index._embed = fail
    with pytest.raises(BrokenError):
        await store.say(OLD)

    assert await store.nodes() == 0


@pytest.mark.parametrize("step", ["upsert", "delete"])
async def test_a_forget_that_fails_in_the_middle_is_finished_by_repetition(
    store: Opened, step: str
) -> None:
    await store.say(OLD, 1)
    new = await store.say(NEW, 2)
    store.vectors.fail_before = step
    with pytest.raises(BrokenError):
        await store.facts.forget(ANN, new)
    store.vectors.fail_before = ""

    assert await store.facts.forget(ANN, new)
    assert await store.found("budget") == [OLD]
    assert await store.vectors.count() == 1
    assert not await store.facts.forget(ANN, new)


async def test_forgetting_leaves_nothing(store: Opened) -> None:
    ids = [await store.say(OLD, 1), await store.say(NEW, 2), await store.say("I like tea", 3)]
    await store.say(OLD, 1, BOB)

    for fact_id in ids:
        assert not await store.facts.forget(BOB, fact_id)
        assert await store.facts.forget(ANN, fact_id)

    assert await store.nodes() == 2  # Bob's fact, and the version of his facts
    assert await store.vectors.count() == 1
    assert await store.facts.forget_scope(BOB) == 1
    assert await store.nodes() == 0
    assert await store.vectors.count() == 0


async def test_what_is_stated_after_a_forget_is_new(store: Opened) -> None:
    await store.say(OLD, 1)
    await store.facts.forget_scope(ANN, at(2))

    (again,) = await store.facts.store([said(OLD, 5)])

    fact = await store.facts.get(ANN, again.id)
    assert again.created
    assert fact is not None
    assert fact.first_stated_at == as_text(MONDAY + timedelta(hours=5))


async def test_forgetting_one_in_the_middle_joins_the_others(store: Opened) -> None:
    first, middle = await store.say(OLD, 1), await store.say(NEW, 2)
    last = await store.say("My Hawaii budget is 13,000 dollars", 3)

    await store.facts.forget(ANN, middle)

    fact = await store.facts.get(ANN, first)
    assert fact is not None
    assert fact.superseded_by == last


async def test_a_fact_that_moves_to_another_slot_supersedes_nothing_in_the_former(
    store: Opened,
) -> None:
    old = await store.say("My Hawaii budget is 10,000 dollars", 1)
    new = await store.say("My Hawaii budget is 12,000 dollars", 2)
    superseded = await store.facts.get(ANN, old)
    assert superseded is not None
    assert superseded.superseded_by == new

    # The same fact, which now says that it is about something else.
    await store.say("My Hawaii budget is 12,000 dollars", 3, subject="Bob", attribute="wallet")

    valid = await store.facts.get(ANN, old)
    assert valid is not None
    assert valid.valid
    assert valid.superseded_by == ""
