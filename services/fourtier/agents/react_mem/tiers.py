"""The memories for a run: the question is embedded once, all tiers are asked concurrently."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fourtier.agents.react_mem.entries import MAX_QUERY, EntryReader
from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.timings import Timings
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentRequest
from fourtier.schema.archive import ArchiveHit
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
    InvocationSummary,
)
from fourtier.schema.embeddings import EMBED, EmbedRequest
from fourtier.schema.episodes import (
    RETRIEVE_EPISODES,
    Episode,
    RetrieveEpisodesRequest,
    RetrieveEpisodesResponse,
)
from fourtier.schema.facts import (
    RETRIEVE_FACTS,
    Fact,
    RetrieveFactsRequest,
    RetrieveFactsResponse,
)
from fourtier.schema.message import MAX_ITEMS, Vector
from fourtier.schema.researcher import Receipt
from fourtier.schema.tiers import Tier

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass
class Memories:
    """What the tiers answered. A tier in `left_out` was unavailable or late, with the reason.

    Attributes:
        facts: those that no longer hold included.
        entries: of the archive, without those that `invocations` have.
        in_conversation: these.
        research: what the research that found them took, where there was one.
        earlier: older invocations than those, a line for each.
        opted_out: the user is not remembered.
    """

    facts: tuple[Fact, ...] = ()
    entries: tuple[ArchiveHit, ...] = ()
    in_conversation: tuple[ArchiveHit, ...] = ()
    research: Receipt | None = None
    episodes: tuple[Episode, ...] = ()
    invocations: tuple[InvocationSummary, ...] = ()
    earlier: str = ""
    opted_out: bool = False
    left_out: dict[str, str] = field(default_factory=dict)


class TierReader:
    """Asks the memory services on behalf of a run."""

    def __init__(
        self, caller: Caller, parameters: AgentParameters, timings: Timings, run_id: str
    ) -> None:
        self._caller = caller
        self._parameters = parameters
        self._timings = timings
        self._entries = EntryReader(caller, parameters, run_id)

    async def retrieve(self, request: AgentRequest, conversation_id: str) -> Memories:
        """Ask every tier; never fails because of one of them."""
        memories = Memories()
        async with asyncio.TaskGroup() as group:
            conversation = group.create_task(
                self._tier(memories, "conversation", self._conversation(request, conversation_id))
            )
            vectors = await self._try_embed(request)
            question, goal = vectors or (None, None)
            facts = group.create_task(self._tier(memories, "facts", self._facts(request, question)))
            entries = group.create_task(
                self._tier(
                    memories,
                    "archive",
                    self._entries.read(request, question),
                    self._parameters.archive_seconds(request),
                )
            )
            episodes = group.create_task(
                self._tier(memories, "episodes", self._episodes(request, goal))
            )
        answers = facts.result(), episodes.result(), conversation.result()
        found = entries.result()
        if any(answer is not None and answer.opted_out for answer in (*answers, found)):
            return Memories(opted_out=True)
        if answers[0] is not None:
            memories.facts = _first(answers[0].facts, self._parameters.fact_retrieval_top_k)
        if answers[1] is not None:
            memories.episodes = answers[1].episodes
        if answers[2] is not None:
            memories.invocations = answers[2].conversation.invocations
            memories.earlier = answers[2].earlier_summary
        if found is not None:
            shown = {(conversation_id, each.id) for each in memories.invocations}
            said = {
                hit.entry.id: (hit.entry.source, hit.entry.invocation_id) in shown
                for hit in found.entries
            }
            others = [hit for hit in found.entries if not said[hit.entry.id]]
            memories.entries = tuple(others[: found.wanted])
            memories.in_conversation = tuple(hit for hit in found.entries if said[hit.entry.id])
            memories.research = found.receipt
        return memories

    async def _tier(
        self, memories: Memories, tier: Tier, answer: Awaitable[T], seconds: float | None = None
    ) -> T | None:
        """The tier's answer; None, with the reason in `left_out`, if there is none in time."""
        limit = self._parameters.tier_seconds if seconds is None else seconds
        try:
            with self._timings.part(tier):
                async with asyncio.timeout(limit):
                    return await answer
        except TimeoutError:
            reason = f"no answer within {limit:g} seconds"
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

    async def _facts(
        self, request: AgentRequest, vector: Vector | None
    ) -> RetrieveFactsResponse | None:
        if self._parameters.fact_retrieval_top_k == 0:
            return None
        return await self._caller.call(
            self._parameters.with_tier_deadline(RETRIEVE_FACTS),
            RetrieveFactsRequest(
                query=_query(request),
                embedding=vector,
                top_k=min(MAX_ITEMS, 2 * self._parameters.fact_retrieval_top_k),
                include_superseded=True,
                user=request.user,
                collection=request.collection,
            ),
        )

    async def _episodes(
        self, request: AgentRequest, vector: Vector | None
    ) -> RetrieveEpisodesResponse | None:
        if self._parameters.episode_retrieval_top_k == 0:
            return None
        return await self._caller.call(
            self._parameters.with_tier_deadline(RETRIEVE_EPISODES),
            RetrieveEpisodesRequest(
                query=_query(request),
                embedding=vector,
                top_k=self._parameters.episode_retrieval_top_k,
                user=request.user,
                collection=request.collection,
            ),
        )

    async def _conversation(
        self, request: AgentRequest, conversation_id: str
    ) -> GetConversationMemoryResponse:
        return await self._caller.call(
            self._parameters.with_tier_deadline(GET_CONVERSATION),
            GetConversationMemoryRequest(
                conversation_id=conversation_id,
                user=request.user,
                collection=request.collection,
                last=self._parameters.conversation_last,
            ),
        )


def _first(facts: Sequence[Fact], number: int) -> tuple[Fact, ...]:
    """Facts up to so many that hold, with those between them that no longer do."""
    holding = [place for place, fact in enumerate(facts) if fact.valid_until is None]
    return tuple(facts[: holding[number]] if len(holding) > number else facts)


def _query(request: AgentRequest) -> str:
    """The beginning of the question, as long as a search query may be."""
    return request.question[:MAX_QUERY]
