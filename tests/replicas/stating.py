"""Statements about the same things, made by two clients at one time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

from fourtier.client import Client, client_on
from fourtier.schema.erasure import ERASE_FACTS
from fourtier.schema.facts import Fact
from fourtier.schema.message import Scope
from tests.replicas.flow import ReplicatedFlow
from tests.support.erasing import erase

#: About each thing.
STATEMENTS = 6
#: With twelve it would happen, one time in two thousand, that all fall to one of two replicas.
_USERS = 20
_THINGS = 2
_ALL = 1_000
_MORNING = datetime(2026, 3, 1, 8, tzinfo=UTC)

Clients = tuple[Client, Client]


@asynccontextmanager
async def connected_twice(flow: ReplicatedFlow) -> AsyncGenerator[Clients]:
    """Two clients with a connection each."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(flow.connected())
        second = await stack.enter_async_context(flow.connected())
        yield (
            await stack.enter_async_context(client_on(first)),
            await stack.enter_async_context(client_on(second)),
        )


async def state_at_once(clients: Clients) -> AsyncIterator[list[Fact]]:
    """Of each thing, let one client state what is new while the other states it too,
    and something later besides. Yields the facts of each thing after every such pair of statements.
    """
    first, second = clients
    things = _things()
    for number in range(0, STATEMENTS, 2):
        created = await asyncio.gather(
            *(
                _state(client, user, of, stated)
                for user, of in things
                for client, stated in ((first, number), (second, number + 1), (second, number))
            )
        )
        assert sum(created) == 2 * len(things), "a statement made twice is one fact"
        for user, of in things:
            facts = await _about(first, user, of)
            assert len(facts) == number + 2
            yield facts


async def forget_and_replace_at_once(clients: Clients) -> list[list[Fact]]:
    """Of each thing's two facts, one client forgets the newer one while the other states a third.

    Gives back the facts that are left of each thing.
    """
    things = _things()
    for number in range(2):
        await asyncio.gather(*(_state(clients[0], user, of, number) for user, of in things))
    newer: list[str] = []
    for user, of in things:
        (valid,) = [fact for fact in await _about(clients[0], user, of) if not fact.valid_until]
        newer.append(valid.id)
    await asyncio.gather(
        *(
            asyncio.gather(
                erase(clients[0].caller, ERASE_FACTS, user, ids=(fact,)),
                _state(clients[1], user, of, 2),
            )
            for (user, of), fact in zip(things, newer, strict=True)
        )
    )
    return [await _about(clients[0], user, of) for user, of in things]


def assert_one_line_in_time(facts: Sequence[Fact]) -> None:
    """Each fact held until the next one was stated, and the newest one holds."""
    line = sorted(facts, key=lambda fact: fact.valid_from)
    for older, newer in pairwise(line):
        assert older.superseded_by == newer.id, f"{older.content!r} and {newer.content!r}"
        assert older.valid_until == newer.valid_from
    assert line[-1].valid_until is None
    assert line[-1].superseded_by is None


def _things() -> list[tuple[Scope, str]]:
    """Several of each of several users."""
    users = [Scope(f"user-{uuid4()}", "default") for _ in range(_USERS)]
    return [(user, f"the trip to city {at}") for user in users for at in range(_THINGS)]


async def _state(client: Client, user: Scope, of: str, number: int) -> bool:
    """Whether it was new."""
    stored = await client.facts.store(
        user,
        f"My budget for {of} is {1_000 + number} dollars",
        timestamp=_MORNING + timedelta(minutes=number),
    )
    return stored.created


async def _facts(client: Client, user: Scope) -> list[Fact]:
    page = await client.facts.list(user, limit=_ALL, include_superseded=True)
    return list(page.facts)


async def _about(client: Client, user: Scope, of: str) -> list[Fact]:
    return [fact for fact in await _facts(client, user) if f"{of} is" in fact.content]
