"""The memories for a run: the question is embedded once, all tiers are asked concurrently."""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.timings import Timings
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentRequest, Tier
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    GetConversationMemoryRequest,
    InvocationSummary,
)
from fourtier.schema.embeddings import EMBED, EmbedRequest
from fourtier.schema.episodes import RETRIEVE_EPISODES, Episode, RetrieveEpisodesRequest
from fourtier.schema.facts import RETRIEVE_FACTS, Fact, RetrieveFactsRequest
from fourtier.schema.message import Vector

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Characters of a question by which memories are searched; models read less of it.
_MAX_QUERY = 8_000


@dataclass
class Memories:
    """What the tiers answered. A tier in `left_out` was unavailable or late, with the reason."""

    facts: tuple[Fact, ...] = ()
    episodes: tuple[Episode, ...] = ()
    invocations: tuple[InvocationSummary, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)


class TierReader:
    """Asks the memory services on behalf of a run."""

    def __init__(self, caller: Caller, parameters: AgentParameters, timings: Timings) -> None:
        self._caller = caller
        self._parameters = parameters
        self._timings = timings

    async def retrieve(self, request: AgentRequest, conversation_id: str) -> Memories:
        """Fetch facts, episodes and the conversation; never fails because of one of them."""
        memories = Memories()
        async with asyncio.TaskGroup() as group:
            conversation = group.create_task(
                self._tier(memories, "conversation", self._conversation(request, conversation_id))
            )
            vectors = await self._try_embed(request)
            question, goal = vectors or (None, None)
            facts = group.create_task(self._tier(memories, "facts", self._facts(request, question)))
            episodes = group.create_task(
                self._tier(memories, "episodes", self._episodes(request, goal))
            )
        memories.facts = facts.result() or ()
        memories.episodes = episodes.result() or ()
        memories.invocations = conversation.result() or ()
        return memories

    async def _tier(self, memories: Memories, tier: Tier, answer: Awaitable[T]) -> T | None:
        """The tier's answer; None, with the reason in `left_out`, if there is none in time."""
        try:
            with self._timings.part(tier):
                async with asyncio.timeout(self._parameters.tier_seconds):
                    return await answer
        except TimeoutError:
            reason = f"no answer within {self._parameters.tier_seconds:g} seconds"
        except FourtierError as error:
            reason = str(error)
        log.warning("The run continues without its %s: %s", tier, reason, extra={"tier": tier})
        TIERS_LEFT_OUT.add(1, {"fourtier.tier": tier})
        memories.left_out[tier] = reason
        return None

    async def _try_embed(self, request: AgentRequest) -> tuple[Vector, Vector] | None:
        """The vectors, or None: then each tier embeds for itself or answers why it cannot."""
        try:
            with self._timings.part("embed"):
                async with asyncio.timeout(self._parameters.tier_seconds):
                    return await self._embed(request)
        except (TimeoutError, FourtierError) as error:
            log.warning("The question could not be embedded: %s", error or "no answer in time")
            return None

    async def _embed(self, request: AgentRequest) -> tuple[Vector, Vector]:
        """Vectors of the question, and of the question with the state for episodes."""
        question = _query(request)
        goal = f"{question}\n{request.state}" if request.state else question
        texts = tuple(dict.fromkeys((question, goal)))
        embed = self._parameters.with_tier_deadline(EMBED)
        answered = await self._caller.call(embed, EmbedRequest(texts=texts))
        return answered.vectors[0], answered.vectors[-1]

    async def _facts(self, request: AgentRequest, vector: Vector | None) -> tuple[Fact, ...]:
        if self._parameters.fact_retrieval_top_k == 0:
            return ()
        found = await self._caller.call(
            self._parameters.with_tier_deadline(RETRIEVE_FACTS),
            RetrieveFactsRequest(
                query=_query(request),
                embedding=vector,
                top_k=self._parameters.fact_retrieval_top_k,
                user=request.user,
                collection=request.collection,
            ),
        )
        return found.facts

    async def _episodes(self, request: AgentRequest, vector: Vector | None) -> tuple[Episode, ...]:
        if self._parameters.episode_retrieval_top_k == 0:
            return ()
        found = await self._caller.call(
            self._parameters.with_tier_deadline(RETRIEVE_EPISODES),
            RetrieveEpisodesRequest(
                query=_query(request),
                embedding=vector,
                top_k=self._parameters.episode_retrieval_top_k,
                user=request.user,
                collection=request.collection,
            ),
        )
        return found.episodes

    async def _conversation(
        self, request: AgentRequest, conversation_id: str
    ) -> tuple[InvocationSummary, ...]:
        found = await self._caller.call(
            self._parameters.with_tier_deadline(GET_CONVERSATION),
            GetConversationMemoryRequest(
                conversation_id=conversation_id,
                user=request.user,
                collection=request.collection,
                last=self._parameters.conversation_last,
            ),
        )
        return found.conversation.invocations


def _query(request: AgentRequest) -> str:
    """The beginning of the question, as long as a search query may be."""
    return request.question[:_MAX_QUERY]
