"""Which episodes a sweep deletes: too many of a scope, and expired ones; on the real stores."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from fourtier.engines.vectors.edge import open_edge
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.engines.vectors.qdrant import QdrantVectorStore, create_collection
from fourtier.memory.episodes import usage_counts
from fourtier.memory.episodes.pruning import Pruning
from fourtier.memory.episodes.store import EpisodeStore
from fourtier.memory.episodes.usage_counts import UsageCounts
from fourtier.schema.episodes import LIST_EPISODES, STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.episodes import ListEpisodesRequest as ListRequest
from fourtier.schema.message import Scope, Vector
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


class Opened:
    """A store, its counts and its pruning, with vectors that a test can foresee.

    Attributes:
        vectors: the store of the counts.
    """

    def __init__(
        self, store: EpisodeStore, vectors: VectorStore, *, maximum: int, half_life_days: float
    ) -> None:
        self.store = store
        self.vectors = vectors
        self.usage = UsageCounts(vectors)
        self.pruning = Pruning(
            store, self.usage, max_per_scope=maximum, half_life=timedelta(days=half_life_days)
        )

    async def store_episode(self, scope: Scope, identity: str, *, days_ago: float) -> None:
        request = StoreEpisodeRequest(
            user=scope.user,
            collection=scope.collection,
            goal=f"Task {identity}",
            episode_id=identity,
            timestamp=datetime.now(UTC) - timedelta(days=days_ago),
        )
        await self.store.store(scope, [request])
        await self.usage.add_scope(scope)

    async def ids(self, scope: Scope) -> set[str]:
        return {hit.id for hit in await self.store.all(scope)}


async def embed(texts: Sequence[str]) -> list[Vector]:
    return [Vector.of([1.0, float(len(text))]) for text in texts]


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
async def test_the_counts_fit_qdrant_as_well() -> None:
    client = AsyncQdrantClient(":memory:")
    try:
        await create_collection(client, "usage", usage_counts.DIMENSIONS, [])
        usage = UsageCounts(QdrantVectorStore(client, "usage", usage_counts.DIMENSIONS))
        await usage.add_scope(ANN)
        usage.note(ANN, ["e1"])
        await usage.write(ANN, ["e1"])

        assert (await usage.of(ANN, ["e1"]))["e1"].times == 1
        assert await usage.scopes() == [ANN]
        await usage.forget_scope(ANN)
        assert await usage.scopes() == []
    finally:
        await client.close()


@asynccontextmanager
async def opened(
    data: Path, *, maximum: int = 3, ttl_days: float | None = None, half_life_days: float = 30
) -> AsyncGenerator[Opened]:
    async with AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(open_edge(data / "e", 2, ["result"]))
        counts = await stack.enter_async_context(open_edge(data / "u", usage_counts.DIMENSIONS, []))
        ttl = None if ttl_days is None else timedelta(days=ttl_days)
        store = EpisodeStore(vectors, embed, ttl=ttl, min_similarity=-1)
        yield Opened(store, counts, maximum=maximum, half_life_days=half_life_days)


async def test_of_too_many_episodes_the_oldest_are_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in range(6):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == {"e0", "e1", "e2"}


async def test_nothing_is_deleted_below_the_maximum(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (1, 1_000, 30_000):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)

        await episodes.pruning.sweep()

        assert len(await episodes.ids(ANN)) == 3


async def test_an_old_episode_that_is_retrieved_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (90, 1, 2, 3):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        episodes.usage.note(ANN, ["e90"])

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == {"e90", "e1", "e2"}


async def test_more_uses_count_for_more_until_they_are_long_ago(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=1) as episodes:
        await episodes.store_episode(ANN, "often", days_ago=200)
        await episodes.store_episode(ANN, "once", days_ago=100)
        for _ in range(3):
            episodes.usage.note(ANN, ["often"])
        episodes.usage.note(ANN, ["once"])

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == {"often"}


async def test_usage_counts_are_there_in_the_next_process(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (90, 1, 2, 3):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        episodes.usage.note(ANN, ["e90"])
        await episodes.pruning.write_usage()
    async with opened(tmp_path) as episodes:
        episodes.usage.note(ANN, ["e90"])
        assert (await episodes.usage.of(ANN, ["e90", "e1"]))["e90"].times == 2

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == {"e90", "e1", "e2"}


async def test_a_sweep_writes_the_usage_counts_to_disk(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        await episodes.store_episode(ANN, "e1", days_ago=1)
        episodes.usage.note(ANN, ["e1"])

        await episodes.pruning.sweep()

        # As after a kill -9: another process knows what is on disk and nothing else.
        after_a_crash = UsageCounts(episodes.vectors)
        assert (await after_a_crash.of(ANN, ["e1"]))["e1"].times == 1


async def test_every_scope_is_pruned_by_itself(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=2) as episodes:
        for days in range(4):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        await episodes.store_episode(BOB, "e9", days_ago=9)

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == {"e0", "e1"}
        assert await episodes.ids(BOB) == {"e9"}


async def test_expired_episodes_are_deleted_and_an_empty_scope_is_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path, ttl_days=10) as episodes:
        await episodes.store_episode(ANN, "old", days_ago=11)
        await episodes.store_episode(BOB, "old", days_ago=11)
        await episodes.store_episode(BOB, "new", days_ago=9)

        await episodes.pruning.sweep()

        assert await episodes.ids(ANN) == set()
        assert await episodes.ids(BOB) == {"new"}
        assert await episodes.usage.scopes() == [BOB]


async def test_the_count_of_a_deleted_episode_is_not_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        await episodes.store_episode(ANN, "e1", days_ago=1)
        episodes.usage.note(ANN, ["e1"])
        await episodes.store.delete(ANN, ["e1"])

        await episodes.pruning.write_usage()

        assert await episodes.usage.of(ANN, ["e1"]) == {}


async def test_more_scopes_than_a_page_are_all_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_counts, "_PAGE", 2)
    async with opened(tmp_path) as episodes:
        many = {Scope(f"user{number}", "default") for number in range(5)}
        for scope in many:
            await episodes.usage.add_scope(scope)

        assert set(await episodes.usage.scopes()) == many


async def test_the_service_prunes_by_itself(tmp_path: Path) -> None:
    services = {
        "embeddings": {},
        "episodes": {"max-per-scope": 2, "sweep-seconds": 0.02},
    }
    async with running_flow(tmp_path, services) as flow:
        for number in range(5):
            request = StoreEpisodeRequest(user="ann", goal=f"Task {number}")
            await flow.caller.call(STORE_EPISODE, request)

        async def pruned() -> bool:
            return (await flow.caller.call(LIST_EPISODES, ListRequest(user="ann"))).total == 2

        await wait_until(pruned)
