"""A fact remains while one conversation that said it does, with the words and the time of that."""

from collections.abc import AsyncGenerator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.facts.graph import SCHEMA, ScopedFact
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.statements import MAX_EARLIER
from fourtier.memory.tombstones.selection import Selection
from fourtier.runtime.service.stores.graph import Statement
from fourtier.schema.erasure import EraseRequest
from tests.memory.facts.stores import ANN, Opened, at, opened, said
from tests.support.graphs import GRAPHS, graph_of

HIDEOUT, OSLO, BERGEN = "My hideout is in the forest", "I live in Oslo", "I live in Bergen"


@pytest.fixture(params=GRAPHS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path, opening=graph_of(request.param, tmp_path, SCHEMA)) as store:
        await store.facts.forget_scope(ANN)
        await store.graph.write(None, Statement("MATCH (t:FactTombstone) DETACH DELETE t"))
        yield store


def selection(**fields: Any) -> Selection:
    return Selection.of(EraseRequest(user="ann", **fields))


def stated(content: str, *said_in: tuple[int, str]) -> list[ScopedFact]:
    """The same content at some hours in some conversations, with a quote of its own each time."""
    return [
        said(content, hours, source=source, invocation_id=f"r{hours}", quote=f"{source} {hours}")
        for hours, source in said_in
    ]


async def facts(store: Opened) -> list[FactRecord]:
    found, _ = await store.facts.page(ANN, 100, 0, superseded=True)
    assert {hit.id for hit in await store.vectors.scroll(ANN, 100)} == {each.id for each in found}
    return found


async def forget(store: Opened, **fields: Any) -> list[str]:
    wanted = selection(**fields)
    would = await store.facts.forgetting.selected(ANN, wanted, at(9))
    gone = await store.facts.forgetting.erase(ANN, wanted, at(9))
    assert [each.id for each in would] == [each.id for each in gone]
    return [each.content for each in gone]


@pytest.mark.parametrize(("conversation", "left", "first"), [("c1", "c2 2", 2), ("c2", "c1 1", 1)])
async def test_what_was_said_in_two_conversations_stays_with_either(
    store: Opened, conversation: str, left: str, first: int
) -> None:
    await store.facts.store(stated(HIDEOUT, (1, "c1"), (2, "c2")))

    assert await forget(store, conversation_id=conversation) == []

    (fact,) = await facts(store)
    assert (fact.quote, fact.earlier) == (left, ())
    other = left.split(maxsplit=1)[0]
    assert (fact.source, fact.invocation_id) == (other, f"r{left.split()[1]}")
    assert fact.first_stated_at == fact.stated_at
    assert fact.first_stated_at == stated(HIDEOUT, (first, "x"))[0].fact.stated_at
    assert await forget(store, conversation_id=other) == [HIDEOUT]
    assert await facts(store) == []
    results = await store.facts.store(stated(HIDEOUT, (1, "c1"), (2, "c2")))
    assert [each.not_stored for each in results] == ["forgotten"] * 2


async def test_of_one_conversation_it_stays_for_the_exchange_that_is_left(store: Opened) -> None:
    await store.facts.store(stated(HIDEOUT, (1, "c1"), (2, "c1"), (3, "c1")))
    assert await forget(store, conversation_id="c1", invocation_ids=("r3", "r1")) == []
    assert [each.quote for each in await facts(store)] == ["c1 2"]
    assert await forget(store, conversation_id="c1", invocation_ids=("r2",)) == [HIDEOUT]


@pytest.mark.parametrize("fields", [{"containing": ("forest",)}, {"everything": True}])
async def test_what_is_forgotten_itself_goes_wherever_it_was_said(
    store: Opened, fields: dict[str, Any]
) -> None:
    await store.facts.store(stated(HIDEOUT, (1, "c1"), (2, "c2")))
    assert await forget(store, **fields) == [HIDEOUT]
    assert await facts(store) == []


async def test_words_of_before_a_forget_do_not_stay_with_what_was_said_since(
    store: Opened,
) -> None:
    (before, *_, since) = stated(HIDEOUT, (1, "c1"), (2, "c2"), (12, "c3"))
    for way in ("one", "all", "containing"):
        await store.facts.store([before, since])
        if way == "one":
            await store.facts.forget(ANN, before.fact.id, at(9))
        elif way == "all":
            await store.facts.forget_scope(ANN, at(9))
        else:
            await forget(store, containing=("forest",))
        (fact,) = await facts(store)
        assert (fact.quote, fact.earlier) == ("c3 12", ())
        assert fact.first_stated_at == since.fact.stated_at
        await store.facts.forget_scope(ANN, at(24))
        await store.graph.write(None, Statement("MATCH (t:FactTombstone) DETACH DELETE t"))


async def test_what_a_later_conversation_had_changed_is_valid_again_without_it(
    store: Opened,
) -> None:
    """Oslo, Bergen, and Oslo again: without the last time Bergen is where one lives."""
    await store.facts.store(stated(OSLO, (1, "c1"), (3, "c3")) + stated(BERGEN, (2, "c2")))
    assert [each.content for each in await facts(store) if each.valid] == [OSLO]
    assert await forget(store, conversation_id="c3") == []
    assert [each.content for each in await facts(store) if each.valid] == [BERGEN]
    assert await store.found("live") == [BERGEN]


async def test_the_order_in_which_statements_come_changes_nothing(store: Opened) -> None:
    reported = stated(HIDEOUT, (1, "c1"), (2, "c2"), (2, "c1"), (3, "c3"))
    ends: list[Sequence[FactRecord]] = []
    for order in [*permutations(reported)][::5]:
        for each in (*order, *order[:2]):  # some come again
            await store.facts.store([each])
        ends.append(await facts(store))
        await store.facts.forget_scope(ANN, at(9))
        await store.graph.write(None, Statement("MATCH (t:FactTombstone) DETACH DELETE t"))
    assert all(end == ends[0] for end in ends)
    assert [each.source for each in ends[0][0].earlier] == ["c2", "c1", "c1"]


async def test_only_the_latest_statements_are_kept(store: Opened) -> None:
    reported = [(hours, f"c{hours}") for hours in range(MAX_EARLIER + 5)]
    await store.facts.store(stated(HIDEOUT, *reported[::-1]))
    (fact,) = await facts(store)
    assert [each.source for each in fact.earlier] == [
        f"c{hours}" for hours in range(MAX_EARLIER + 3, 3, -1)
    ]
    assert fact.first_stated_at == said(HIDEOUT, 0).fact.stated_at


async def test_a_name_of_a_conversation_inside_of_another_is_not_it(store: Opened) -> None:
    names = ('a"b', "a", "ä\\n")
    await store.facts.store(stated(HIDEOUT, *enumerate(names), (5, "last")))
    for index, name in enumerate(names):
        await forget(store, conversation_id=name)
        (fact,) = await facts(store)
        assert {each.source for each in fact.earlier} == set(names[index + 1 :])
