"""Two replicas on one graph, as when one joins and a user's facts are about to move to it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourtier.memory.facts.store import FactStore
from fourtier.runtime.service.stores.graph import Statement
from fourtier.schema.message import Vector
from tests.memory.facts.stores import ANN, Opened, Vectors, at, opened, said
from tests.support.waiting import wait_until

OLD, NEW, NEWEST, LAST = (f"My Hawaii budget is {number},000 dollars" for number in range(10, 14))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Opened]:
    async with opened(tmp_path) as store:
        yield store


class Waiting:
    """A replica that has read the graph, and waits for vectors before it writes."""

    def __init__(self, store: Opened) -> None:
        self._store = store
        self._asked = asyncio.Event()
        self._may_go_on = asyncio.Event()
        self._facts = FactStore(store.graph, store.vectors, self._embed)

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        self._asked.set()
        await self._may_go_on.wait()
        return await self._store.embedder(texts)

    async def begin_to_state(self, content: str, hours: int) -> asyncio.Task[object]:
        stating = asyncio.create_task(self._facts.store([said(content, hours)]))
        await wait_until(self._asked.is_set)
        return stating

    def go_on(self) -> None:
        self._may_go_on.set()


async def test_what_another_replica_forgets_meanwhile_stays_forgotten(store: Opened) -> None:
    await store.say(OLD, 1)
    new = await store.say(NEW, 2)
    other = Waiting(store)
    stating = await other.begin_to_state(NEWEST, 3)

    assert await store.facts.forget(ANN, new)
    other.go_on()
    await stating

    assert await store.facts.get(ANN, new) is None
    assert NEW not in await store.found("budget", superseded=True)
    assert await store.found("budget") == [NEWEST]
    assert await store.found("budget", superseded=True) == [NEWEST, OLD]


async def test_what_another_replica_states_meanwhile_is_one_fact(store: Opened) -> None:
    other = Waiting(store)
    stating = await other.begin_to_state(OLD, 1)

    fact = await store.say(OLD, 1)
    other.go_on()
    await stating

    assert await store.facts.get(ANN, fact) is not None
    assert await store.facts.numbers() == (1, 1)


@dataclass
class Interrupted(Vectors):
    """Vectors that delete something after another replica has done something."""

    deed: Callable[[], Awaitable[object]] | None = None

    async def before(self, method: str) -> None:
        await super().before(method)
        if method != "upsert" and self.deed is not None:
            deed, self.deed = self.deed, None
            await deed()


async def test_what_is_stated_again_while_it_is_forgotten_is_found(store: Opened) -> None:
    fact = await store.say(OLD, 1)
    deleting = Interrupted(store.vectors, deed=lambda: store.say(OLD, 2))
    assert await FactStore(store.graph, deleting, store.embedder).forget(ANN, fact, at(1))

    assert await store.facts.numbers() == (1, 1)
    assert await store.found("budget") == [OLD]


async def test_what_is_stated_while_all_is_forgotten_is_found(store: Opened) -> None:
    await store.say(OLD, 1)
    deleting = Interrupted(store.vectors, deed=lambda: store.say(NEW, 2))
    assert await FactStore(store.graph, deleting, store.embedder).forget_scope(ANN, at(1)) == 1

    assert await store.facts.numbers() == (1, 1)
    assert await store.found("budget") == [NEW]


async def test_facts_of_an_older_release_are_noticed_to_be_gone(store: Opened) -> None:
    new = await store.say(NEW, 2)
    await store.graph.write(None, Statement("MATCH (v:FactVersion) DETACH DELETE v"))
    other = Waiting(store)
    stating = await other.begin_to_state(OLD, 1)

    assert await store.facts.forget(ANN, new)
    other.go_on()
    await stating

    assert await store.found("budget") == [OLD]
    assert await store.facts.numbers() == (1, 1)
