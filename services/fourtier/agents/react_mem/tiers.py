"""What is remembered for a run: the question embedded once, all tiers asked at the same time."""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TypeVar

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.timings import Timings
from fourtier.runtime.bus.contract import BusError
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


@dataclass
class Remembered:
    """What the tiers gave. A tier in `left_out` was down or late, with the reason."""

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

    async def remember(self, request: AgentRequest, conversation_id: str) -> Remembered:
        """Fetch facts, episodes and the conversation; never fails because of one of them."""
        remembered = Remembered()
        async with asyncio.TaskGroup() as group:
            conversation = group.create_task(
                self._tier(remembered, "conversation", self._conversation(request, conversation_id))
            )
            vectors = await self._try_embed(request)
            question, goal = vectors or (None, None)
            facts = group.create_task(
                self._tier(remembered, "facts", self._facts(request, question))
            )
            episodes = group.create_task(
                self._tier(remembered, "episodes", self._episodes(request, goal))
            )
        remembered.facts = facts.result() or ()
        remembered.episodes = episodes.result() or ()
        remembered.invocations = conversation.result() or ()
        return remembered

    async def _tier(self, remembered: Remembered, tier: Tier, asked: Awaitable[T]) -> T | None:
        """The tier's answer, or None with the reason noted."""
        try:
            with self._timings.part(tier):
                async with asyncio.timeout(self._parameters.tier_seconds):
                    return await asked
        except TimeoutError:
            reason = f"no answer within {self._parameters.tier_seconds:g} seconds"
        except (FourtierError, BusError) as error:
            reason = str(error)
        log.warning("The run goes on without its %s: %s", tier, reason, extra={"tier": tier})
        TIERS_LEFT_OUT.add(1, {"fourtier.tier": tier})
        remembered.left_out[tier] = reason
        return None

    async def _try_embed(self, request: AgentRequest) -> tuple[Vector, Vector] | None:
        """The vectors, or None: then each tier embeds for itself or says why it cannot."""
        try:
            with self._timings.part("embed"):
                async with asyncio.timeout(self._parameters.tier_seconds):
                    return await self._embed(request)
        except (TimeoutError, FourtierError, BusError) as error:
            log.warning("The question could not be embedded: %s", error or "no answer in time")
            return None

    async def _embed(self, request: AgentRequest) -> tuple[Vector, Vector]:
        """Vectors of the question, and of the question with the state for episodes."""
        goal = f"{request.question}\n{request.state}" if request.state else request.question
        texts = tuple(dict.fromkeys((request.question, goal)))
        embed = self._parameters.patient(EMBED)
        answered = await self._caller.call(embed, EmbedRequest(texts=texts))
        return answered.vectors[0], answered.vectors[-1]

    async def _facts(self, request: AgentRequest, vector: Vector | None) -> tuple[Fact, ...]:
        if self._parameters.fact_retrieval_top_k == 0:
            return ()
        found = await self._caller.call(
            self._parameters.patient(RETRIEVE_FACTS),
            RetrieveFactsRequest(
                query=request.question,
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
            self._parameters.patient(RETRIEVE_EPISODES),
            RetrieveEpisodesRequest(
                query=request.question,
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
            self._parameters.patient(GET_CONVERSATION),
            GetConversationMemoryRequest(
                conversation_id=conversation_id,
                user=request.user,
                collection=request.collection,
                last=self._parameters.conversation_last,
            ),
        )
        return found.conversation.invocations
