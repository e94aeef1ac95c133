"""The names that facts mention: which, how often, with whom, and that they go with their facts."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.facts.mentions import mentioned
from fourtier.memory.facts.retention import FactMemories, RetainedFacts
from fourtier.memory.facts.store import FactStore
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.selection import Selection
from fourtier.runtime.service.stores.vectors import Point
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope
from tests.memory.facts.stores import ANN, BOB, BrokenError, Opened, at, opened, said


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path) as store:
        yield store


async def names(
    store: Opened, with_name: str = "", scope: Scope = ANN, limit: int = 100
) -> dict[str, int]:
    """The names that the store lists, in their order."""
    listed = await store.facts.names(scope, limit, with_name)
    return {each.name: each.facts for each in listed}


async def mentioning(store: Opened, *of: str, **how: Any) -> set[str]:
    """The contents of what a search for facts that mention names finds."""
    arguments = {"superseded": False, **how}
    found = await store.facts.search(ANN, "anything", None, 20, mentions=of, **arguments)
    return {fact.content for fact, _ in found}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": "Dinner with Anna's brother is at eight"}, ["Anna"]),
        ({"content": "I live in Oslo", "speaker": "Caroline"}, ["Oslo", "Caroline"]),
        ({"content": "I like Oslo", "speaker": "ann"}, ["Oslo"]),
        ({"content": "I like Oslo", "speaker": "Ann"}, ["Oslo"]),
        ({"content": "You like Oslo", "speaker": "Assistant"}, ["Oslo"]),
        ({"content": "I like OSLO", "speaker": "Oslo"}, ["OSLO"]),
        ({"content": "Ann likes Oslo", "speaker": "ann"}, ["Ann", "Oslo"]),
        ({"content": "She works at Equinor", "subject": "Ingrid"}, ["Equinor", "Ingrid"]),
        ({"content": "I like tea", "speaker": "user"}, []),
    ],
)
def test_a_fact_mentions_names_and_its_speaker_unless_that_is_the_user(
    fields: dict[str, str], expected: list[str]
) -> None:
    assert list(mentioned(said(**fields)).values()) == expected


def test_a_fact_has_so_many_names_at_most() -> None:
    many = ", ".join(f"Name{chr(ord('a') + n % 26)}{chr(ord('a') + n // 26)}" for n in range(200))
    assert len(mentioned(said(f"I know {many}"))) == 64


async def test_names_are_counted_by_facts_and_the_most_frequent_come_first(store: Opened) -> None:
    await store.say("Anna likes tea")
    await store.say("I met ANNA, yes Anna, in Bergen")
    await store.say("My sister Anna plays the cello")
    await store.say("I met Tom in Bergen")

    assert list((await names(store)).items()) == [("Anna", 3), ("Bergen", 2), ("Tom", 1)]
    assert await names(store, limit=2) == {"Anna": 3, "Bergen": 2}
    assert await names(store, "anna") == {"Bergen": 1}
    assert await names(store, " BERGEN's") == {"ANNA": 1, "Tom": 1}
    assert await names(store, "Nobody") == {}


async def test_said_again_it_is_counted_once(store: Opened) -> None:
    for hours in (1, 2, 1):
        await store.say("I met Tom in Bergen", hours)
    await store.facts.store([said("I met Tom in Bergen", 3), said("I met Tom in Bergen", 3)])

    assert await names(store) == {"Bergen": 1, "Tom": 1}


async def test_what_is_superseded_does_not_count(store: Opened) -> None:
    await store.say("I live in Oslo", 1)
    new = await store.say("I live in Bergen", 2)

    assert await names(store) == {"Bergen": 1}
    assert await mentioning(store, "Oslo") == set()
    assert await mentioning(store, "oslo", superseded=True) == {"I live in Oslo"}

    await store.facts.forget(ANN, new)
    assert await names(store) == {"Oslo": 1}


async def test_a_search_finds_facts_that_mention_one_of_some_names(store: Opened) -> None:
    await store.say("Anna likes tea")
    await store.say("I met Tom in Bergen")
    await store.say("I like anything")

    assert await mentioning(store, "ANNA\u2019s") == {"Anna likes tea"}
    assert await mentioning(store, "anna", "bergen") == {"Anna likes tea", "I met Tom in Bergen"}
    assert await mentioning(store, "Nobody") == set()
    assert len(await mentioning(store)) == 3
    about = await store.facts.about(ANN, "tea", 5, mentions=["Tom"])
    assert about == []
    ((fact, _),) = await store.facts.about(ANN, "tea", 5, mentions=["anna"])
    assert fact.content == "Anna likes tea"


async def test_scopes_never_mix(store: Opened) -> None:
    await store.say("I met Tom in Bergen")
    await store.say("I met Tom in Narvik", scope=BOB)
    other = Scope("ann", "other")
    await store.say("I met Tom in Lund", scope=other)

    assert await names(store) == {"Bergen": 1, "Tom": 1}
    assert await names(store, "Tom") == {"Bergen": 1}
    assert await names(store, "Tom", other) == {"Lund": 1}
    assert await mentioning(store, "Tom", "Narvik", "Lund") == {"I met Tom in Bergen"}


def selection(**fields: Any) -> Selection:
    return Selection.of(EraseRequest(user="ann", **fields))


@pytest.mark.parametrize("road", ["one", "scope", "matching", "conversation"])
async def test_a_name_is_forgotten_with_its_fact(store: Opened, road: str) -> None:
    one = await store.say("I met Ingrid in Bergen", source="c1")
    await store.say("Tom lives in Bergen", source="c2")
    await store.say("Ingrid is ill", scope=BOB)

    if road == "one":
        await store.facts.forget(ANN, one)
    elif road == "scope":
        await store.facts.forget_scope(ANN)
    elif road == "matching":
        await store.facts.forgetting.erase(ANN, selection(containing=("Ingrid",)), at(9))
    else:
        await store.facts.forgetting.erase(ANN, selection(conversation_id="c1"), at(9))

    left = {} if road == "scope" else {"Bergen": 1, "Tom": 1}
    assert await names(store) == left
    assert await names(store, "Bergen") == ({} if road == "scope" else {"Tom": 1})
    assert await mentioning(store, "Ingrid") == set()
    assert await names(store, scope=BOB) == {"Ingrid": 1}


async def test_what_it_is_about_counts_once_it_is_known(store: Opened) -> None:
    """The point of a fact is written anew where its names have changed."""
    await store.say("She works at Equinor", 1)
    assert await names(store) == {"Equinor": 1}
    await store.say("She works at Equinor", 1, subject="Ingrid", attribute="employer")
    assert await names(store) == {"Equinor": 1, "Ingrid": 1}


async def test_an_index_of_an_older_release_is_made_anew(store: Opened) -> None:
    one = await store.say("I met Tom in Bergen")
    two = await store.say("Anna likes tea")
    for each in (one, two):
        (hit,) = await store.vectors.get(ANN, [each])
        old = {"valid": "yes", "day": str(hit.payload["day"])}
        await store.vectors.upsert(
            ANN, [Point(each, {"dense": store.embedder.of(each)}, {"sparse": "x"}, old)]
        )
    assert await names(store) == {}

    await store.say("Anna likes tea")
    assert await names(store) == {"Anna": 1}

    cursor = (await store.facts.reindex("")).cursor
    while cursor:
        cursor = (await store.facts.reindex(cursor)).cursor
    assert await names(store) == {"Anna": 1, "Bergen": 1, "Tom": 1}


async def test_what_has_expired_does_not_count_before_it_is_swept(store: Opened) -> None:
    await store.say("I met Tom in Bergen", 1)
    await store.say("I met Ingrid in Bergen", 5)
    await store.say("I live in Oslo", 1)
    await store.say("I live in Lund", 6)
    settings = RetentionParameters.model_validate({"ttl_days": 1})
    memories = FactMemories(store.graph, store.facts, "evict-oldest")
    now = at(3) + timedelta(days=1)
    retention = Retention("fact", memories, settings, evicts=True, now=lambda: now)
    facts = RetainedFacts(store.facts, memories, retention)

    async def listed(with_name: str = "") -> dict[str, int]:
        return {each.name: each.facts for each in await facts.names(ANN, 9, with_name)}

    assert await names(store) == {"Bergen": 2, "Ingrid": 1, "Lund": 1, "Tom": 1}
    assert await listed() == {"Bergen": 1, "Ingrid": 1, "Lund": 1}
    assert await listed("bergen") == {"Ingrid": 1}
    assert await listed("Lund") == {}
    await retention.sweep()
    assert await names(store) == await listed() == {"Bergen": 1, "Ingrid": 1, "Lund": 1}


async def test_a_write_that_fails_between_graph_and_index_is_made_good(store: Opened) -> None:
    store.vectors.fail_before = "upsert"
    with pytest.raises(BrokenError):
        await store.say("I met Tom in Bergen")
    store.vectors.fail_before = ""
    again = FactStore(store.graph, store.vectors, store.embedder)
    await again.store([said("I met Tom in Bergen")])
    assert await names(store) == {"Bergen": 1, "Tom": 1}
