"""What goes when there is too much, or when its time is over; on the real stores, by the sweep."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from fourtier.engines.vectors.edge import open_edge
from fourtier.engines.vectors.qdrant import QdrantVectorStore, create_collection
from fourtier.memory.episodes import uses
from fourtier.memory.episodes.pruning import Pruning
from fourtier.memory.episodes.store import EpisodeStore
from fourtier.schema.episodes import LIST_EPISODES, STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.episodes import ListEpisodesRequest as ListRequest
from fourtier.schema.message import Scope, Vector
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


class House:
    """A store, its counts and its pruning, with vectors that a test can foresee."""

    def __init__(
        self, store: EpisodeStore, counted: uses.Uses, *, most: int, half_life_days: float
    ) -> None:
        self.store = store
        self.uses = counted
        self.pruning = Pruning(store, counted, most=most, half_life=timedelta(days=half_life_days))

    async def keep(self, scope: Scope, identity: str, *, days_ago: float) -> None:
        request = StoreEpisodeRequest(
            user=scope.user,
            collection=scope.collection,
            goal=f"Task {identity}",
            episode_id=identity,
            timestamp=datetime.now(UTC) - timedelta(days=days_ago),
        )
        await self.store.store(scope, [request])
        await self.uses.add_scope(scope)

    async def ids(self, scope: Scope) -> set[str]:
        return {hit.id for hit in await self.store.all(scope)}


async def embed(texts: Sequence[str]) -> list[Vector]:
    return [Vector.of([1.0, float(len(text))]) for text in texts]


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
async def test_the_counts_fit_qdrant_as_well() -> None:
    client = AsyncQdrantClient(":memory:")
    try:
        await create_collection(client, "uses", uses.DIMENSIONS, [])
        counted = uses.Uses(QdrantVectorStore(client, "uses", uses.DIMENSIONS))
        await counted.add_scope(ANN)
        counted.note(ANN, ["e1"])
        await counted.write(ANN, ["e1"])

        assert (await counted.of(ANN, ["e1"]))["e1"].times == 1
        assert await counted.scopes() == [ANN]
        await counted.forget_scope(ANN)
        assert await counted.scopes() == []
    finally:
        await client.close()


@asynccontextmanager
async def house(
    data: Path, *, most: int = 3, ttl_days: float | None = None, half_life_days: float = 30
) -> AsyncGenerator[House]:
    async with AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(open_edge(data / "e", 2, ["result"]))
        counted = uses.Uses(
            await stack.enter_async_context(open_edge(data / "u", uses.DIMENSIONS, []))
        )
        ttl = None if ttl_days is None else timedelta(days=ttl_days)
        store = EpisodeStore(vectors, embed, ttl=ttl, least_similarity=-1)
        yield House(store, counted, most=most, half_life_days=half_life_days)


async def test_of_too_many_the_oldest_go(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        for days in range(6):
            await it.keep(ANN, f"e{days}", days_ago=days)

        await it.pruning.sweep()

        assert await it.ids(ANN) == {"e0", "e1", "e2"}


async def test_as_many_as_there_may_be_are_left_alone(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        for days in (1, 1_000, 30_000):
            await it.keep(ANN, f"e{days}", days_ago=days)

        await it.pruning.sweep()

        assert len(await it.ids(ANN)) == 3


async def test_an_old_one_that_is_needed_stays(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        for days in (90, 1, 2, 3):
            await it.keep(ANN, f"e{days}", days_ago=days)
        it.uses.note(ANN, ["e90"])

        await it.pruning.sweep()

        assert await it.ids(ANN) == {"e90", "e1", "e2"}


async def test_more_uses_count_for_more_until_they_are_long_ago(tmp_path: Path) -> None:
    async with house(tmp_path, most=1) as it:
        await it.keep(ANN, "often", days_ago=200)
        await it.keep(ANN, "once", days_ago=100)
        for _ in range(3):
            it.uses.note(ANN, ["often"])
        it.uses.note(ANN, ["once"])

        await it.pruning.sweep()

        assert await it.ids(ANN) == {"often"}


async def test_uses_are_remembered_by_the_next_process(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        for days in (90, 1, 2, 3):
            await it.keep(ANN, f"e{days}", days_ago=days)
        it.uses.note(ANN, ["e90"])
        await it.pruning.write_uses()
    async with house(tmp_path) as it:
        it.uses.note(ANN, ["e90"])
        assert (await it.uses.of(ANN, ["e90", "e1"]))["e90"].times == 2

        await it.pruning.sweep()

        assert await it.ids(ANN) == {"e90", "e1", "e2"}


async def test_every_scope_is_pruned_by_itself(tmp_path: Path) -> None:
    async with house(tmp_path, most=2) as it:
        for days in range(4):
            await it.keep(ANN, f"e{days}", days_ago=days)
        await it.keep(BOB, "e9", days_ago=9)

        await it.pruning.sweep()

        assert await it.ids(ANN) == {"e0", "e1"}
        assert await it.ids(BOB) == {"e9"}


async def test_what_is_expired_goes_and_an_empty_scope_is_forgotten(tmp_path: Path) -> None:
    async with house(tmp_path, ttl_days=10) as it:
        await it.keep(ANN, "old", days_ago=11)
        await it.keep(BOB, "old", days_ago=11)
        await it.keep(BOB, "new", days_ago=9)

        await it.pruning.sweep()

        assert await it.ids(ANN) == set()
        assert await it.ids(BOB) == {"new"}
        assert await it.uses.scopes() == [BOB]


async def test_the_count_of_what_was_deleted_is_not_written(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        await it.keep(ANN, "e1", days_ago=1)
        it.uses.note(ANN, ["e1"])
        await it.store.delete(ANN, ["e1"])

        await it.pruning.write_uses()

        assert await it.uses.of(ANN, ["e1"]) == {}


async def test_more_scopes_than_a_page_are_all_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "_PAGE", 2)
    async with house(tmp_path) as it:
        many = {Scope(f"user{number}", "default") for number in range(5)}
        for scope in many:
            await it.uses.add_scope(scope)

        assert set(await it.uses.scopes()) == many


async def test_the_service_prunes_by_itself(tmp_path: Path) -> None:
    services = {
        "embeddings": {},
        "episodes": {"most-per-scope": 2, "sweep-seconds": 0.02},
    }
    async with running_flow(tmp_path, services) as flow:
        for number in range(5):
            request = StoreEpisodeRequest(user="ann", goal=f"Task {number}")
            await flow.caller.call(STORE_EPISODE, request)

        async def pruned() -> bool:
            return (await flow.caller.call(LIST_EPISODES, ListRequest(user="ann"))).total == 2

        await wait_until(pruned)
