"""`episodes`: store what was attempted and what came of it, and find it again by its goal."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Self

from pydantic import Field

from fourtier.engines.config import engine_config
from fourtier.engines.counting import count_points
from fourtier.engines.opening import open_vectors
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.memory.episodes.pruning import Pruning
from fourtier.memory.episodes.store import COLLECTION, EpisodeStore, by_scope
from fourtier.memory.episodes.usage_counts import COLLECTION as USAGE_COLLECTION
from fourtier.memory.episodes.usage_counts import UsageCounts
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.service import (
    Parameters,
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    periodic,
)
from fourtier.schema.episodes import (
    DELETE_EPISODE,
    DELETE_EPISODES,
    GET_EPISODE,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    STORE_EPISODE,
    DeleteEpisodeRequest,
    DeleteEpisodeResponse,
    DeleteEpisodesRequest,
    DeleteEpisodesResponse,
    GetEpisodeRequest,
    GetEpisodeResponse,
    ListEpisodesRequest,
    ListEpisodesResponse,
    RetrieveEpisodesRequest,
    RetrieveEpisodesResponse,
    StoreEpisodeRequest,
    StoreEpisodeResponse,
)
from fourtier.schema.status import StoreCount

_CENTURY = 36_500.0


class EpisodesParameters(Parameters):
    """How long episodes are stored, and how many."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=_CENTURY, description="stored for so long after they ended"
    )
    max_per_scope: int = Field(
        default=2_000, ge=1, description="of more than that, the least useful ones go"
    )
    half_life_days: float = Field(
        default=30, gt=0, le=_CENTURY, description="see pruning.py: what useful means"
    )
    sweep_seconds: float = Field(default=600, gt=0, description="pause between two prunings")
    min_similarity: float = Field(
        default=0.2, ge=-1, le=1, description="cosine below which a goal is another matter"
    )


class EpisodesService(Service):
    """Owns the episodes of all scopes."""

    name = "episodes"
    parameters = EpisodesParameters
    stores = Stores(collections=[COLLECTION, USAGE_COLLECTION])

    def __init__(self, store: EpisodeStore, usage: UsageCounts, vectors: VectorStore) -> None:
        self._store = store
        self._usage = usage
        self._vectors = vectors

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: EpisodesParameters
    ) -> AsyncGenerator[Self]:
        """Open the vectors and begin to prune."""
        engines, ttl_days = engine_config(context), parameters.ttl_days
        async with AsyncExitStack() as stack:
            vectors = await stack.enter_async_context(open_vectors(engines, COLLECTION))
            usage = UsageCounts(
                await stack.enter_async_context(open_vectors(engines, USAGE_COLLECTION))
            )
            store = EpisodeStore(
                vectors,
                embed_by(context.caller),
                ttl=None if ttl_days is None else timedelta(days=ttl_days),
                min_similarity=parameters.min_similarity,
            )
            pruning = Pruning(
                store,
                usage,
                max_per_scope=parameters.max_per_scope,
                half_life=timedelta(days=parameters.half_life_days),
            )
            stack.push_async_callback(pruning.write_usage)
            await stack.enter_async_context(
                periodic("The pruning of episodes", parameters.sweep_seconds, pruning.sweep)
            )
            yield cls(store, usage, vectors)

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many episodes there are in all."""
        return [await count_points(self._vectors, COLLECTION)]

    @answer_batch(STORE_EPISODE)
    async def store(self, requests: Sequence[StoreEpisodeRequest]) -> list[StoreEpisodeResponse]:
        """Write a batch of what has arrived, one write for each scope."""
        stored = {}
        for scope, batch in by_scope(requests).items():
            stored[scope] = iter(await self._store.store(scope, batch))
            await self._usage.add_scope(scope)
        answers = [next(stored[request.scope]) for request in requests]
        return [StoreEpisodeResponse(episode_id=each, created=new) for each, new in answers]

    @answer(RETRIEVE_EPISODES)
    async def retrieve(self, request: RetrieveEpisodesRequest) -> RetrieveEpisodesResponse:
        """Search by goal; what is found was useful once more."""
        found = await self._store.search(
            request.scope, request.query, request.embedding, request.top_k, request.result
        )
        self._usage.note(request.scope, [episode.id for episode in found])
        return RetrieveEpisodesResponse(episodes=tuple(found))

    @answer(GET_EPISODE)
    async def get(self, request: GetEpisodeRequest) -> GetEpisodeResponse:
        """Read one episode."""
        return GetEpisodeResponse(episode=await self._store.get(request.scope, request.episode_id))

    @answer(LIST_EPISODES)
    async def list(self, request: ListEpisodesRequest) -> ListEpisodesResponse:
        """Read a page of episodes."""
        episodes, total = await self._store.page(request.scope, request.limit, request.offset)
        return ListEpisodesResponse(episodes=tuple(episodes), total=total)

    @answer(DELETE_EPISODE)
    async def delete(self, request: DeleteEpisodeRequest) -> DeleteEpisodeResponse:
        """Delete one episode."""
        deleted = await self._store.delete(request.scope, [request.episode_id])
        await self._usage.forget(request.scope, [request.episode_id])
        return DeleteEpisodeResponse(deleted=deleted > 0)

    @answer(DELETE_EPISODES)
    async def delete_scope(self, request: DeleteEpisodesRequest) -> DeleteEpisodesResponse:
        """Delete all episodes of a scope."""
        deleted = await self._store.delete_scope(request.scope)
        await self._usage.forget_scope(request.scope)
        return DeleteEpisodesResponse(deleted=deleted)
