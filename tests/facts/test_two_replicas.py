"""Two replicas on one graph, as when one joins and a user's facts are about to move to it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from fourtier.facts.store import FactStore
from fourtier.schema.message import Vector
from tests.facts.stores import ANN, Opened, opened, said
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


async def test_what_another_replica_states_meanwhile_is_no_second_fact(store: Opened) -> None:
    other = Waiting(store)
    stating = await other.begin_to_state(OLD, 1)

    fact = await store.say(OLD, 1)
    other.go_on()
    await stating

    assert await store.facts.get(ANN, fact) is not None
    assert await store.facts.numbers() == (1, 1)
