"""`episodes`: keep what was attempted and what came of it, and find it again by its goal."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import ClassVar, Self

from pydantic import Field

from fourtier.engines.config import engine_place
from fourtier.engines.counting import count_points
from fourtier.engines.opening import open_vectors
from fourtier.engines.stores import Stores
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.memory.episodes import uses
from fourtier.memory.episodes.pruning import Pruning
from fourtier.memory.episodes.store import COLLECTION, EpisodeStore, by_scope
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.rpc.routes import Route, answer, answer_together
from fourtier.runtime.service.context import Parameters, Surroundings
from fourtier.runtime.service.periodic import repeating
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
from fourtier.schema.status import Kept

_CENTURY = 36_500.0


class EpisodesParameters(Parameters):
    """How long episodes are kept, and how many."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=_CENTURY, description="kept for so long after they ended"
    )
    most_per_scope: int = Field(
        default=2_000, ge=1, description="of more than that, the least useful ones go"
    )
    half_life_days: float = Field(
        default=30, gt=0, le=_CENTURY, description="see pruning.py: what useful means"
    )
    sweep_seconds: float = Field(default=600, gt=0, description="pause between two prunings")
    least_similarity: float = Field(
        default=0.2, ge=-1, le=1, description="cosine below which a goal is another matter"
    )


class EpisodesService:
    """Owns the episodes of all scopes."""

    parameters: ClassVar[type[EpisodesParameters]] = EpisodesParameters
    stores: ClassVar[Stores] = Stores(collections=[COLLECTION, uses.COLLECTION])

    def __init__(self, store: EpisodeStore, counted: uses.Uses, vectors: VectorStore) -> None:
        self._store = store
        self._uses = counted
        self._vectors = vectors

    @classmethod
    @asynccontextmanager
    async def open(
        cls, surroundings: Surroundings, parameters: EpisodesParameters
    ) -> AsyncGenerator[Self]:
        """Open the vectors and begin to prune."""
        place, ttl_days = engine_place(surroundings), parameters.ttl_days
        async with AsyncExitStack() as stack:
            vectors = await stack.enter_async_context(open_vectors(place, COLLECTION))
            counted = uses.Uses(
                await stack.enter_async_context(open_vectors(place, uses.COLLECTION))
            )
            store = EpisodeStore(
                vectors,
                embed_by(surroundings.caller),
                ttl=None if ttl_days is None else timedelta(days=ttl_days),
                least_similarity=parameters.least_similarity,
            )
            pruning = Pruning(
                store,
                counted,
                most=parameters.most_per_scope,
                half_life=timedelta(days=parameters.half_life_days),
            )
            stack.push_async_callback(pruning.write_uses)
            await stack.enter_async_context(
                repeating("The pruning of episodes", parameters.sweep_seconds, pruning.sweep)
            )
            yield cls(store, counted, vectors)

    def routes(self) -> Iterator[Route]:
        """What it handles."""
        yield answer_together(STORE_EPISODE, self.store)
        yield answer(RETRIEVE_EPISODES, self.retrieve)
        yield answer(GET_EPISODE, self.get)
        yield answer(LIST_EPISODES, self.list)
        yield answer(DELETE_EPISODE, self.delete)
        yield answer(DELETE_EPISODES, self.delete_scope)

    async def kept(self) -> Sequence[Kept]:
        """How many episodes there are in all."""
        return [await count_points(self._vectors, COLLECTION)]

    async def store(self, requests: Sequence[StoreEpisodeRequest]) -> list[StoreEpisodeResponse]:
        """Write what has arrived together, one write for each scope."""
        stored = {}
        for scope, together in by_scope(requests).items():
            stored[scope] = iter(await self._store.store(scope, together))
            await self._uses.add_scope(scope)
        answers = [next(stored[request.scope]) for request in requests]
        return [StoreEpisodeResponse(episode_id=each, created=new) for each, new in answers]

    async def retrieve(self, request: RetrieveEpisodesRequest) -> RetrieveEpisodesResponse:
        """Search by goal; what is found was useful once more."""
        found = await self._store.search(
            request.scope, request.query, request.embedding, request.top_k, request.result
        )
        self._uses.note(request.scope, [episode.id for episode in found])
        return RetrieveEpisodesResponse(episodes=tuple(found))

    async def get(self, request: GetEpisodeRequest) -> GetEpisodeResponse:
        """Read one episode."""
        return GetEpisodeResponse(episode=await self._store.get(request.scope, request.episode_id))

    async def list(self, request: ListEpisodesRequest) -> ListEpisodesResponse:
        """Read a page of episodes."""
        episodes, total = await self._store.page(request.scope, request.limit, request.offset)
        return ListEpisodesResponse(episodes=tuple(episodes), total=total)

    async def delete(self, request: DeleteEpisodeRequest) -> DeleteEpisodeResponse:
        """Delete one episode."""
        deleted = await self._store.delete(request.scope, [request.episode_id])
        await self._uses.forget(request.scope, [request.episode_id])
        return DeleteEpisodeResponse(deleted=deleted > 0)

    async def delete_scope(self, request: DeleteEpisodesRequest) -> DeleteEpisodesResponse:
        """Delete all episodes of a scope."""
        deleted = await self._store.delete_scope(request.scope)
        await self._uses.forget_scope(request.scope)
        return DeleteEpisodesResponse(deleted=deleted)
