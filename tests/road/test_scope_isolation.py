"""Whatever is stored, searched, forgotten and ended: nobody ever sees another scope's memory."""

import asyncio
from collections.abc import Generator
from contextlib import AsyncExitStack
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourtier.client import Client, client_on
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.erasure import ERASE_EPISODES, ERASE_FACTS
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.erasing import erase
from tests.support.flow import running_flow

MEMORY = {name: values for name, values in ROAD.items() if name not in {"agent", "completion"}}
#: Names that a careless key or filter would mix up.
USERS = ("ann", "an", "ann/x", "Ann", "ünn")
COLLECTIONS = ("default", "x/default", "work")
THINGS = ("budget", "home", "dog")

scopes = st.tuples(st.sampled_from(USERS), st.sampled_from(COLLECTIONS))
operations = st.lists(
    st.tuples(
        st.sampled_from(["fact", "episode", "forget", "forget_all", "end", "delete"]),
        scopes,
        st.sampled_from(THINGS),
        st.integers(1, 4),
    ),
    min_size=5,
    max_size=25,
)


class World:
    """One running flow for all examples; each example has users of its own."""

    def __init__(self, runner: asyncio.Runner, client: Client) -> None:
        self.runner = runner
        self.client = client
        self.examples = count()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        data = tmp_path_factory.mktemp("isolation")
        flow = runner.run(stack.enter_async_context(running_flow(data, MEMORY)))
        client = runner.run(stack.enter_async_context(client_on(flow.bus)))
        yield World(runner, client)
        runner.run(stack.aclose())


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(operations)
def test_no_operation_shows_or_touches_another_scope(
    world: World, steps: list[tuple[str, tuple[str, str], str, int]]
) -> None:
    world.runner.run(play(world.client, next(world.examples), steps))


class Remembered:
    """What one scope has stored and not forgotten, and the operations that change it."""

    def __init__(self, client: Client, scope: Scope) -> None:
        self.client = client
        self.scope = scope
        self.mark = f"{scope.key}#"
        self.facts: set[str] = set()

    async def fact(self, thing: str, number: int) -> None:
        content = f"{self.mark} my {thing} number {number} stands here"
        await self.client.facts.store(self.scope, content, speaker=self.scope.user)
        self.facts.add(content)

    async def episode(self, thing: str, _number: int) -> None:
        user, collection = self.scope
        goal = f"{self.mark} find the {thing}"
        await self.client.caller.call(
            STORE_EPISODE, StoreEpisodeRequest(user=user, collection=collection, goal=goal)
        )

    async def forget(self, _thing: str, _number: int) -> None:
        for fact in (await self.client.facts.list(self.scope, limit=1)).facts:
            assert await erase(self.client.caller, ERASE_FACTS, self.scope, ids=(fact.id,))
            self.facts.discard(fact.content)

    async def forget_all(self, _thing: str, _number: int) -> None:
        await erase(self.client.caller, ERASE_FACTS, self.scope, everything=True)
        self.facts.clear()

    async def end(self, thing: str, _number: int) -> None:
        await self.client.conversations.end(self.scope, thing)

    async def delete(self, _thing: str, _number: int) -> None:
        await erase(self.client.caller, ERASE_EPISODES, self.scope, everything=True)


async def play(
    client: Client, example: int, steps: list[tuple[str, tuple[str, str], str, int]]
) -> None:
    """Play the steps; after each, its scope sees what it has stored and nothing else."""
    scopes: dict[Scope, Remembered] = {}
    for name, (user, collection), thing, number in steps:
        scope = Scope(f"{user}-{example}", collection)
        remembered = scopes.setdefault(scope, Remembered(client, scope))
        await getattr(remembered, name)(thing, number)
        for each in scopes.values():
            await check(client, each, thing)


async def check(client: Client, remembered: Remembered, thing: str) -> None:
    """What a scope sees is its own, and all of it."""
    scope, mark, mine = remembered.scope, remembered.mark, remembered.facts
    listed = await client.facts.list(scope, limit=1_000, include_superseded=True)
    assert {fact.content for fact in listed.facts} == mine
    found = await client.facts.search(scope, thing, top_k=50, include_superseded=True)
    assert {fact.content for fact in found} <= mine
    for episode in await client.episodes.search(scope, thing, top_k=50):
        assert episode.goal.startswith(mark)
    for conversation in (await client.conversations.list(scope)).conversations:
        assert conversation.conversation_id in THINGS
