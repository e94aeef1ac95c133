"""The vectors made from the graph: whole, again, in parts, and while others write."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from fourtier.memory.facts.reindexing import Part
from fourtier.memory.facts.store import FactStore
from fourtier.runtime.errors import PermanentError
from fourtier.schema.message import Scope, Vector
from tests.memory.facts.stores import ANN, BOB, BrokenError, Opened, opened, said

#: Makes a replica that embeds only once something has happened.
Meanwhile = Callable[[Callable[[], Awaitable[object]]], FactStore]
OLD, NEW = "My Hawaii budget is 10,000 dollars", "My Hawaii budget is 12,000 dollars"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path) as store:
        yield store


async def rebuilt(facts: FactStore) -> list[Part]:
    """All parts of a rebuild."""
    parts = [await facts.reindex("")]
    while parts[-1].cursor:
        parts.append(await facts.reindex(parts[-1].cursor))
    return parts


async def points(store: Opened, scope: Scope) -> list[tuple[str, dict[str, str]]]:
    """What the vectors hold of a scope."""
    return [(hit.id, dict(hit.payload)) for hit in await store.vectors.scroll(scope, 1_000)]


async def test_all_vectors_can_be_made_again_for_another_model(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await store.facts.store([said(f"I like tea number {number}") for number in range(300)])
        await store.facts.store([said(OLD, 1, BOB), said(NEW, 2, BOB)])
    async with opened(tmp_path, dimensions=24) as store:
        assert await store.found("tea") == []
        parts = await rebuilt(store.facts)

        assert sum(part.written for part in parts) == 302
        assert sum(part.strays for part in parts) == 0
        assert len([part for part in parts if part.written]) == 3
        assert await store.facts.numbers() == (302, 302)
        assert "I like tea number 7" in await store.found("tea number 7")
        assert await store.found("budget", BOB) == [NEW]


async def test_again_it_changes_nothing(store: Opened) -> None:
    await store.facts.store([said(OLD, 1), said(NEW, 2), said(OLD, 1, BOB)])
    before = await points(store, ANN), await points(store, BOB)

    for _ in range(2):
        parts = await rebuilt(store.facts)
        assert sum(part.written for part in parts) == 3
        assert (await points(store, ANN), await points(store, BOB)) == before


async def test_a_rebuild_that_was_interrupted_is_begun_again(store: Opened) -> None:
    await store.facts.store([said(f"I like tea number {number}") for number in range(300)])
    await store.vectors.delete_scope(ANN)

    first = await store.facts.reindex("")
    store.vectors.fail_before = "upsert"
    with pytest.raises(BrokenError):
        await store.facts.reindex(first.cursor)
    store.vectors.fail_before = ""
    assert 0 < await store.vectors.count() < 300

    await rebuilt(store.facts)
    assert await store.vectors.count() == 300


async def test_points_of_no_fact_are_removed(store: Opened) -> None:
    gone = await store.say("I like tea")
    coffee = await store.say("I like coffee")
    theirs = await store.say("I like tea", scope=BOB)
    store.vectors.fail_before = "delete"
    with pytest.raises(BrokenError):
        await store.facts.forget(ANN, gone)
    store.vectors.fail_before = ""
    assert await store.facts.numbers() == (2, 3)

    parts = await rebuilt(store.facts)

    assert sum(part.strays for part in parts) == 1
    assert [each for each, _ in await points(store, ANN)] == [coffee]
    assert [each for each, _ in await points(store, BOB)] == [theirs]


async def test_an_unknown_cursor_is_a_permanent_error(store: Opened) -> None:
    with pytest.raises(PermanentError, match="not a cursor"):
        await store.facts.reindex("yesterday")


@pytest.fixture
def meanwhile(store: Opened) -> Meanwhile:
    """A replica that rebuilds, while another one does something as it embeds."""

    def replica(happens: Callable[[], Awaitable[object]]) -> FactStore:
        left = [happens]

        async def embed(texts: Sequence[str]) -> Sequence[Vector]:
            while left:
                await left.pop()()
            return await store.embedder(texts)

        return FactStore(store.graph, store.vectors, embed)

    return replica


async def test_what_another_replica_replaces_meanwhile_is_replaced(
    store: Opened, meanwhile: Meanwhile
) -> None:
    old = await store.say(OLD, 1)
    await rebuilt(meanwhile(lambda: store.say(NEW, 2)))

    assert await store.found("budget") == [NEW]
    assert dict(await points(store, ANN))[old]["valid"] == "no"


async def test_what_another_replica_forgets_meanwhile_is_gone(
    store: Opened, meanwhile: Meanwhile
) -> None:
    old, new = await store.say(OLD, 1), await store.say(NEW, 2)
    await rebuilt(meanwhile(lambda: store.facts.forget(ANN, new)))

    assert await store.found("budget") == [OLD]
    assert [each for each, _ in await points(store, ANN)] == [old]


async def test_what_another_replica_learns_meanwhile_is_found(
    store: Opened, meanwhile: Meanwhile
) -> None:
    await store.say(OLD, 1)
    await store.vectors.delete_scope(ANN)
    await rebuilt(meanwhile(lambda: store.say("I like tea")))

    assert sorted(await store.found("budget")) == sorted([OLD, "I like tea"])
    assert await store.facts.numbers() == (2, 2)
