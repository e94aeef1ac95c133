"""`episodes`: store what was attempted and what came of it, and find it again by its goal."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field

from fourtier.engines.counting import count_points
from fourtier.memory.episodes.forgetting import Episodes
from fourtier.memory.episodes.retention import EpisodeMemories, RetainedEpisodes
from fourtier.memory.episodes.search import EpisodeSearch
from fourtier.memory.episodes.store import COLLECTION, EpisodeStore, Sent
from fourtier.memory.episodes.usage_counts import OPT_OUTS, SCHEMA, TOMBSTONES, UsageCounts
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.opting_out import change_opt_out
from fourtier.memory.retention.parameters import CENTURY, RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.selection import answer_erase
from fourtier.memory.tombstones.store import Tombstones
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    current_envelope,
    current_envelopes,
    periodic,
)
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.episodes import (
    GET_EPISODE,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    STORE_EPISODE,
    Episode,
    GetEpisodeRequest,
    GetEpisodeResponse,
    ListEpisodesRequest,
    ListEpisodesResponse,
    RetrieveEpisodesRequest,
    RetrieveEpisodesResponse,
    StoreEpisodeRequest,
    StoreEpisodeResponse,
)
from fourtier.schema.erasure import ERASE_EPISODES, Erased, EraseRequest, EraseResponse
from fourtier.schema.opt_out import OPT_OUT_EPISODES, OptOutRequest, OptOutResponse
from fourtier.schema.status import StoreCount


class EpisodesParameters(RetentionParameters):
    """How long episodes are stored, and how many."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=CENTURY, description="stored for so long after they ended"
    )
    max_per_scope: int | None = Field(
        default=2_000, ge=1, description="quota of a user's collection; null for none"
    )
    when_full: Literal["evict-least-useful", "evict-oldest", "reject"] = Field(
        default="evict-least-useful",
        description="which episodes of a full scope go, or `reject` for those that are new",
    )
    half_life_days: float = Field(
        default=30, gt=0, le=CENTURY, description="see retention.py: what useful means"
    )
    min_similarity: float = Field(
        default=0.2, ge=-1, le=1, description="cosine below which a goal is another matter"
    )

    @property
    def half_life(self) -> timedelta | None:
        """In which an episode loses half of its usefulness; None where that does not count."""
        useful_first = self.when_full == "evict-least-useful"
        return timedelta(days=self.half_life_days) if useful_first else None


class EpisodesService(Service):
    """Owns the episodes of all scopes."""

    name = "episodes"
    parameters = EpisodesParameters
    stores = Stores(SCHEMA, [COLLECTION])

    def __init__(
        self,
        store: EpisodeStore,
        search: EpisodeSearch,
        usage: UsageCounts,
        *,
        episodes: Episodes,
        retained: RetainedEpisodes,
        vectors: VectorStore,
        privacy: Privacy,
        opt_outs: OptOuts,
    ) -> None:
        self._privacy = privacy
        self._opt_outs = opt_outs
        self._store = store
        self._search = search
        self._usage = usage
        self._episodes = episodes
        self._retained = retained
        self._vectors = vectors

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: EpisodesParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and the vectors and begin to sweep."""
        async with AsyncExitStack() as stack:
            vectors = await stack.enter_async_context(context.open_vectors(COLLECTION))
            graph = await stack.enter_async_context(context.open_graph(SCHEMA))
            usage = UsageCounts(graph)
            embed = embed_by(context.caller)
            store = EpisodeStore(vectors, embed, ttl=parameters.ttl)
            search = EpisodeSearch(
                vectors, embed, ttl=parameters.ttl, min_similarity=parameters.min_similarity
            )
            opt_outs = OptOuts(graph, OPT_OUTS, context.privacy.policy.opted_out_users)
            episodes = Episodes(store, usage, Tombstones(graph, TOMBSTONES, opt_outs))
            memories = EpisodeMemories(store, usage, parameters.half_life)
            evicts = parameters.when_full != "reject"
            retention = Retention("episode", memories, parameters, evicts=evicts)
            retained = RetainedEpisodes(store, usage, memories, retention, episodes)
            stack.push_async_callback(retained.write_usage)
            await stack.enter_async_context(
                periodic("The sweep of episodes", parameters.sweep_seconds, retained.sweep)
            )
            yield cls(
                store,
                search,
                usage,
                episodes=episodes,
                retained=retained,
                vectors=vectors,
                privacy=context.privacy,
                opt_outs=opt_outs,
            )

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many episodes there are in all."""
        return [await count_points(self._vectors, COLLECTION)]

    @answer_batch(STORE_EPISODE)
    async def store(self, requests: Sequence[StoreEpisodeRequest]) -> list[StoreEpisodeResponse]:
        """Write a batch of what has arrived.

        Raises:
            QuotaExceededError: the scope of one is full, and the flow evicts nothing.
        """
        requests = [(await self._privacy.clean(request)).message for request in requests]
        return await self._retained.store(
            [
                Sent(request, received.sent_at)
                for request, received in zip(requests, current_envelopes(), strict=True)
            ]
        )

    @answer(RETRIEVE_EPISODES)
    async def retrieve(self, request: RetrieveEpisodesRequest) -> RetrieveEpisodesResponse:
        """Search by goal; what is found was useful once more."""
        if await self._opt_outs.is_out(request.user):
            return RetrieveEpisodesResponse(episodes=(), opted_out=True)
        found = await self._search.search(
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

    @answer(ERASE_EPISODES)
    async def erase(self, request: EraseRequest) -> EraseResponse:
        """Forget the episodes that are selected."""
        return await answer_erase(request, current_envelope().sent_at, self._episodes, _erased)

    @answer(OPT_OUT_EPISODES)
    async def opt_out(self, request: OptOutRequest) -> OptOutResponse:
        """Store no episodes of a user any more, or again."""
        return await change_opt_out(
            self._opt_outs,
            request,
            current_envelope().sent_at,
            scopes=self._usage.scopes,
            memories=self._episodes,
        )


def _erased(episode: Episode) -> Erased:
    return Erased(
        kind="episode",
        id=episode.id,
        content=episode.goal,
        conversation_id=episode.source,
        invocation_id=episode.invocation_id,
    )
