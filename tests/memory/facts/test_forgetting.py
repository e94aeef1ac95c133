"""What was forgotten stays forgotten, and what is said after that is new."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.facts.graph import SCHEMA
from fourtier.memory.facts.store import FactStore
from fourtier.memory.tombstones.selection import Selection
from fourtier.runtime.service.stores.graph import Statement, Value
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope
from tests.memory.facts.stores import ANN, BOB, Graph, Opened, at, opened, said
from tests.support.graphs import GRAPHS, graph_of

HIDEOUT = "My hideout is in the forest"
CAT, TEA, OSLO = "I have a cat", "I like tea", "I live in Oslo"


@pytest.fixture(params=GRAPHS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path, opening=graph_of(request.param, tmp_path, SCHEMA)) as store:
        for scope in (ANN, BOB):
            await store.facts.forget_scope(scope)
        await store.graph.write(None, Statement("MATCH (t:FactTombstone) DETACH DELETE t"))
        yield store


async def contents(store: Opened, scope: Scope = ANN) -> list[str]:
    facts, _ = await store.facts.page(scope, 100, 0, superseded=True)
    assert {hit.id for hit in await store.vectors.scroll(scope, 100)} == {f.id for f in facts}
    return sorted(fact.content for fact in facts)


def selection(**fields: Any) -> Selection:
    return Selection.of(EraseRequest(user="ann", **fields))


async def test_a_forgotten_fact_does_not_come_back(store: Opened) -> None:
    fact = await store.say(HIDEOUT, 1)
    assert await store.facts.forget(ANN, fact, at(2))

    (again,) = await store.facts.store([said(HIDEOUT, 1)])

    assert (again.created, again.not_stored) == (False, "forgotten")
    assert await contents(store) == []


async def test_a_fact_that_is_forgotten_before_it_arrives_is_not_stored(store: Opened) -> None:
    fact = said(HIDEOUT, 1).fact.id
    assert not await store.facts.forget(ANN, fact, at(2))
    await store.say(HIDEOUT, 1)
    assert await contents(store) == []


async def test_what_was_said_at_the_moment_of_forgetting_is_forgotten(store: Opened) -> None:
    fact = await store.say(HIDEOUT, 2)
    assert await store.facts.forget(ANN, fact, at(2))
    await store.say(HIDEOUT, 2)
    assert await contents(store) == []


async def test_who_says_it_again_is_remembered(store: Opened) -> None:
    await store.facts.forget(ANN, await store.say(HIDEOUT, 1), at(2))
    (again,) = await store.facts.store([said(HIDEOUT, 3)])
    assert (again.created, again.not_stored) == (True, None)
    assert await contents(store) == [HIDEOUT]


async def test_a_forget_that_comes_late_leaves_what_was_said_since(store: Opened) -> None:
    fact = await store.say(HIDEOUT, 3)
    assert not await store.facts.forget(ANN, fact, at(2))
    await store.say(TEA, 1)
    assert await store.facts.forget_scope(ANN, at(2)) == 1
    assert await contents(store) == [HIDEOUT]
    assert await store.found("hideout") == [HIDEOUT]


async def test_a_forgotten_scope_takes_nothing_that_was_on_its_way(store: Opened) -> None:
    await store.say(HIDEOUT, 1)
    await store.say(TEA, 1, BOB)
    assert await store.facts.forget_scope(ANN, at(2)) == 1

    for scope in (ANN, BOB):
        await store.say(OSLO, 1, scope)
        await store.say(CAT, 3, scope)
    assert await contents(store) == [CAT]
    assert await contents(store, BOB) == [CAT, TEA, OSLO]


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"conversation_id": "c1"}, [CAT, TEA]),
        (
            {"conversation_id": "c1", "invocation_ids": ("r2",)},
            [CAT, TEA, HIDEOUT],
        ),
        ({"containing": ("the FOREST.",)}, [CAT, TEA, OSLO]),
        (
            {"containing": ("forest fire", "!")},
            [CAT, TEA, OSLO, HIDEOUT],
        ),
        ({"ids": (said(TEA).fact.id,)}, [CAT, OSLO, HIDEOUT]),
        ({"everything": True}, []),
    ],
)
async def test_what_is_selected_goes_and_stays_away(
    store: Opened, fields: dict[str, Any], left: list[str]
) -> None:
    facts = [
        said(HIDEOUT, 1, source="c1", invocation_id="r1"),
        said(OSLO, 1, source="c1", invocation_id="r2"),
        said(TEA, 1, source="c2", invocation_id="r1"),
        said(CAT, 1),
    ]
    await store.facts.store(facts)
    await store.facts.store([said(each.fact.content, 1, BOB, source="c1") for each in facts])
    wanted = selection(**fields)

    would = await store.facts.forgetting.selected(ANN, wanted, at(2))
    assert len(await contents(store)) == 4
    gone = await store.facts.forgetting.erase(ANN, wanted, at(2))

    assert await contents(store) == sorted(left)
    assert {fact.id for fact in gone} == {fact.id for fact in would}
    assert len(gone) == 4 - len(left)
    await store.facts.store(facts)
    assert await contents(store) == sorted(left)
    assert len(await contents(store, BOB)) == 4


async def test_what_a_conversation_still_had_to_tell_is_not_stored(store: Opened) -> None:
    await store.facts.forgetting.erase(ANN, selection(conversation_id="c1"), at(2))
    stored = await store.facts.store(
        [said(HIDEOUT, hours, source=source) for hours, source in ((1, "c1"), (1, "c2"), (3, "c1"))]
    )
    assert [each.not_stored for each in stored] == ["forgotten", None, None]


@dataclass
class Racing(Graph):
    """A graph in which somebody else acts before something is written for the first time."""

    deed: Callable[[], Awaitable[object]] | None = None

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        if self.deed is not None:
            deed, self.deed = self.deed, None
            await deed()
        return await super().write(scope, *statements)


@pytest.mark.parametrize("known", [True, False])
async def test_what_is_forgotten_while_it_is_stored_is_gone(store: Opened, *, known: bool) -> None:
    if known:
        await store.say(TEA, 1)
    fact = said(HIDEOUT, 1)
    graph = Racing(store.graph.real)
    graph.deed = lambda: store.facts.forget(ANN, fact.fact.id, at(2))

    (stored,) = await FactStore(graph, store.vectors, store.embedder).store([fact])

    assert stored.not_stored == "forgotten"
    assert await contents(store) == [TEA] * known


async def test_of_a_fact_only_what_is_forgotten_while_it_is_stored_is_taken_back(
    store: Opened,
) -> None:
    await store.facts.store([said(HIDEOUT, 1, source="c0", invocation_id="r0")])
    graph = Racing(store.graph.real)
    forgotten = selection(conversation_id="c1")
    graph.deed = lambda: store.facts.forgetting.erase(ANN, forgotten, at(3))
    again = said(HIDEOUT, 2, source="c1", invocation_id="r1")

    (stored,) = await FactStore(graph, store.vectors, store.embedder).store([again])

    assert stored.not_stored == "forgotten"
    (fact,), _ = await store.facts.page(ANN, 100, 0, superseded=True)
    assert (fact.source, fact.earlier) == ("c0", ())


async def test_a_tombstone_has_no_content(store: Opened) -> None:
    await store.facts.forget(ANN, await store.say(HIDEOUT, 1, source="c1"), at(2))
    await store.facts.forgetting.erase(ANN, selection(conversation_id="my secret plan"), at(2))
    rows = await store.graph.read(None, "MATCH (t:FactTombstone) RETURN t.id AS id, t.kind AS kind")
    assert sorted(str(row["kind"]) for row in rows) == ["conversation", "fact"]
    assert not any("ann" in str(row["id"]) or "secret" in str(row["id"]) for row in rows)


async def test_a_later_tombstone_counts_whichever_comes_first(store: Opened) -> None:
    fact = said(HIDEOUT, 3)
    for hours in (4, 2):
        await store.facts.forget(ANN, fact.fact.id, at(hours))
    await store.facts.store([fact])
    assert await contents(store) == []
