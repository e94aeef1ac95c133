"""Which episodes go: too many of a scope, and expired ones; on the real stores."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.memory.episodes.forgetting import Episodes
from fourtier.memory.episodes.retention import EpisodeMemories, RetainedEpisodes
from fourtier.memory.episodes.store import EpisodeStore, Sent
from fourtier.memory.episodes.usage_counts import SCHEMA, TOMBSTONES, UsageCounts
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.store import Tombstones
from fourtier.runtime.errors import QuotaExceededError
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.schema.episodes import LIST_EPISODES, STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.episodes import ListEpisodesRequest as ListRequest
from fourtier.schema.message import Scope, Vector
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


class Opened:
    """A store, its counts and its pruning, with vectors that a test can foresee.

    Attributes:
        graph: the store of the counts.
    """

    def __init__(
        self,
        store: EpisodeStore,
        graph: GraphStore,
        settings: RetentionParameters,
        *,
        half_life_days: float | None,
        evicts: bool,
    ) -> None:
        self.store = store
        self.graph = graph
        self.usage = UsageCounts(graph)
        half_life = None if half_life_days is None else timedelta(days=half_life_days)
        memories = EpisodeMemories(store, self.usage, half_life)
        self.retained = RetainedEpisodes(
            store,
            self.usage,
            memories,
            Retention("episode", memories, settings, evicts=evicts),
            Episodes(store, self.usage, Tombstones(graph, TOMBSTONES)),
        )

    async def store_episode(self, scope: Scope, identity: str, *, days_ago: float) -> None:
        """Write an episode, also where there is no room for it."""
        await self.store.store(scope, [sent(scope, identity, days_ago)])
        await self.usage.add_scope(scope)

    async def ids(self, scope: Scope) -> set[str]:
        return {hit.id for hit in await self.store.all(scope)}


def sent(scope: Scope, identity: str, days_ago: float) -> Sent:
    request = StoreEpisodeRequest(
        user=scope.user,
        collection=scope.collection,
        goal=f"Task {identity}",
        episode_id=identity,
        timestamp=datetime.now(UTC) - timedelta(days=days_ago),
    )
    return Sent(request, datetime.now(UTC))


async def embed(texts: Sequence[str]) -> list[Vector]:
    return [Vector.of([1.0, float(len(text))]) for text in texts]


@asynccontextmanager
async def opened(
    data: Path,
    *,
    maximum: int = 3,
    ttl_days: float | None = None,
    half_life_days: float | None = 30,
    evicts: bool = True,
) -> AsyncGenerator[Opened]:
    async with AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(open_edge(data / "e", 2, Fields(["result"])))
        counts = await stack.enter_async_context(open_ladybug(data / "graph.lbug", SCHEMA))
        settings = RetentionParameters(max_per_scope=maximum, ttl_days=ttl_days)
        store = EpisodeStore(vectors, embed, ttl=settings.ttl)
        yield Opened(store, counts, settings, half_life_days=half_life_days, evicts=evicts)


async def test_of_too_many_episodes_the_oldest_are_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in range(6):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == {"e0", "e1", "e2"}


async def test_nothing_is_deleted_below_the_maximum(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (1, 1_000, 30_000):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)

        await episodes.retained.sweep()

        assert len(await episodes.ids(ANN)) == 3


async def test_an_old_episode_that_is_retrieved_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (90, 1, 2, 3):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        episodes.usage.note(ANN, ["e90"])

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == {"e90", "e1", "e2"}


async def test_more_uses_count_for_more_until_they_are_long_ago(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=1) as episodes:
        await episodes.store_episode(ANN, "often", days_ago=200)
        await episodes.store_episode(ANN, "once", days_ago=100)
        for _ in range(3):
            episodes.usage.note(ANN, ["often"])
        episodes.usage.note(ANN, ["once"])

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == {"often"}


async def test_usage_counts_are_there_in_the_next_process(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        for days in (90, 1, 2, 3):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        episodes.usage.note(ANN, ["e90"])
        await episodes.retained.write_usage()
    async with opened(tmp_path) as episodes:
        episodes.usage.note(ANN, ["e90"])
        assert (await episodes.usage.of(ANN, ["e90", "e1"]))["e90"].times == 2

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == {"e90", "e1", "e2"}


async def test_a_sweep_writes_the_usage_counts_to_disk(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        await episodes.store_episode(ANN, "e1", days_ago=1)
        episodes.usage.note(ANN, ["e1"])

        await episodes.retained.sweep()

        # As after a kill -9: another process knows what is on disk and nothing else.
        after_a_crash = UsageCounts(episodes.graph)
        assert (await after_a_crash.of(ANN, ["e1"]))["e1"].times == 1


async def test_every_scope_is_pruned_by_itself(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=2) as episodes:
        for days in range(4):
            await episodes.store_episode(ANN, f"e{days}", days_ago=days)
        await episodes.store_episode(BOB, "e9", days_ago=9)

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == {"e0", "e1"}
        assert await episodes.ids(BOB) == {"e9"}
        assert await episodes.usage.scopes() == [ANN, BOB]


async def test_expired_episodes_are_deleted_and_an_empty_scope_is_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path, ttl_days=10) as episodes:
        await episodes.store_episode(ANN, "old", days_ago=11)
        await episodes.store_episode(BOB, "old", days_ago=11)
        await episodes.store_episode(BOB, "new", days_ago=9)

        await episodes.retained.sweep()

        assert await episodes.ids(ANN) == set()
        assert await episodes.ids(BOB) == {"new"}
        assert await episodes.usage.scopes() == [BOB]


async def test_the_count_of_a_deleted_episode_is_not_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as episodes:
        await episodes.store_episode(ANN, "e1", days_ago=1)
        episodes.usage.note(ANN, ["e1"])
        await episodes.store.delete(ANN, ["e1"])

        await episodes.retained.write_usage()

        assert await episodes.usage.of(ANN, ["e1"]) == {}


async def test_who_stores_makes_room(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=2) as episodes:
        for days in (3, 1, 2):
            (answer,) = await episodes.retained.store([sent(ANN, f"e{days}", days)])
            assert answer.created
        assert await episodes.ids(ANN) == {"e1", "e2"}

        (again,) = await episodes.retained.store([sent(ANN, "e3", 3)])
        assert (again.created, again.not_stored) == (False, "evicted")
        assert await episodes.ids(ANN) == {"e1", "e2"}


async def test_by_age_an_old_episode_goes_although_it_is_retrieved(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=2, half_life_days=None) as episodes:
        await episodes.store_episode(ANN, "e90", days_ago=90)
        episodes.usage.note(ANN, ["e90"])
        await episodes.retained.store([sent(ANN, "e1", 1), sent(ANN, "e2", 2)])
        assert await episodes.ids(ANN) == {"e1", "e2"}


async def test_a_full_scope_rejects_what_is_new_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path, maximum=2, evicts=False) as episodes:
        await episodes.retained.store([sent(ANN, "e1", 1), sent(ANN, "e2", 2)])
        with pytest.raises(QuotaExceededError, match="2 of at most 2 episodes"):
            await episodes.retained.store([sent(ANN, "e3", 3)])
        (again,) = await episodes.retained.store([sent(ANN, "e1", 1)])
        assert (again.created, again.not_stored) == (False, None)
        assert await episodes.ids(ANN) == {"e1", "e2"}


async def test_what_ended_too_long_ago_is_not_stored(tmp_path: Path) -> None:
    async with opened(tmp_path, ttl_days=10) as episodes:
        answers = await episodes.retained.store([sent(ANN, "e11", 11), sent(ANN, "e9", 9)])
        assert [each.not_stored for each in answers] == ["expired", None]
        assert await episodes.ids(ANN) == {"e9"}


async def test_the_service_makes_room_by_itself(tmp_path: Path) -> None:
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
