"""`conversations`: what happened in each conversation, in order; never searched."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

from pydantic import Field

from fourtier.engines.counting import count_nodes
from fourtier.memory.conversations.ending import Ending
from fourtier.memory.conversations.forgetting import Exchange, Forgetting
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.retention import ConversationMemories, RetainedConversations
from fourtier.memory.conversations.store import OPT_OUTS, SCHEMA, ConversationStore
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.opting_out import change_opt_out
from fourtier.memory.retention.parameters import CENTURY, RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.selection import answer_erase
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    current_envelope,
    current_envelopes,
    on_batch,
    periodic,
)
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import (
    DIALOGUE_RECORDED,
    END_CONVERSATION,
    GET_CONVERSATION,
    GET_RUN,
    LIST_CONVERSATIONS,
    UPDATE_CONVERSATION,
    ConversationMemory,
    DialogueTurn,
    EndConversationRequest,
    EndConversationResponse,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
    GetRunRequest,
    GetRunResponse,
    ListConversationsRequest,
    ListConversationsResponse,
    UpdateConversationMemoryRequest,
    UpdateConversationMemoryResponse,
)
from fourtier.schema.erasure import ERASE_CONVERSATIONS, Erased, EraseRequest, EraseResponse
from fourtier.schema.message import MAX_OFFSET
from fourtier.schema.opt_out import OPT_OUT_CONVERSATIONS, OptOutRequest, OptOutResponse
from fourtier.schema.status import StoreCount

#: Imports come in floods; a bigger batch costs the same one commit.
_MAX_TURNS = 256


class ConversationsParameters(RetentionParameters):
    """When a conversation ends that no call has ended, and which of them are stored how long."""

    idle_seconds: float = Field(
        default=1_800,
        gt=0,
        le=315_360_000,  # ten years: so long ago must still be a date
        description="without anything new for so long, a conversation has ended",
    )
    sweep_seconds: float = Field(
        default=10, gt=0, description="pause between two looks for such conversations"
    )
    earlier_characters: int = Field(
        default=4_000,
        ge=0,
        le=100_000,
        description="of the summary of invocations that are older than those asked for; 0: none",
    )
    ttl_days: float | None = Field(
        default=None,
        gt=0,
        le=CENTURY,
        description="a record is stored for so long after the last run or turn in it",
    )
    max_invocations: int | None = Field(
        default=None, ge=1, description="of one conversation; without it there is no limit"
    )
    when_full: Literal["evict-oldest", "reject"] = Field(
        default="evict-oldest",
        description="the conversation that was last active longest ago goes, and of one that is "
        "too long what was said first; or what is new is rejected",
    )
    retention_sweep_seconds: float = Field(
        default=600, gt=0, description="pause between two looks for what has expired or is too much"
    )


class ConversationsService(Service):
    """Owns the records of all conversations."""

    name = "conversations"
    parameters = ConversationsParameters
    stores = Stores(SCHEMA)

    def __init__(
        self,
        store: ConversationStore,
        forgetting: Forgetting,
        retained: RetainedConversations,
        ending: Ending,
        graph: GraphStore,
        *,
        privacy: Privacy,
        opt_outs: OptOuts,
        earlier_characters: int,
    ) -> None:
        self._privacy = privacy
        self._store = store
        self._opt_outs = opt_outs
        self._forgetting = forgetting
        self._retained = retained
        self._earlier_characters = earlier_characters
        self._graph = graph
        self._ending = ending

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ConversationsParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and begin to look for idle and for expired conversations."""
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(context.open_graph(SCHEMA))
            store = ConversationStore(graph, parameters.ttl)
            opt_outs = OptOuts(graph, OPT_OUTS, context.privacy.policy.opted_out_users)
            forgetting = Forgetting(store, graph, opt_outs)
            memories = ConversationMemories(graph, forgetting)
            evicts = parameters.when_full != "reject"
            retention = Retention("conversation", memories, parameters, evicts=evicts)
            ending = Ending(store, context.caller, timedelta(seconds=parameters.idle_seconds))
            for name, seconds, sweep in (
                ("The sweep of idle conversations", parameters.sweep_seconds, ending.sweep),
                (
                    "The sweep of expired conversations",
                    parameters.retention_sweep_seconds,
                    retention.sweep,
                ),
            ):
                await stack.enter_async_context(periodic(name, seconds, sweep))
            yield cls(
                store,
                forgetting,
                RetainedConversations(forgetting, memories, retention, parameters.max_invocations),
                ending,
                graph,
                privacy=context.privacy,
                opt_outs=opt_outs,
                earlier_characters=parameters.earlier_characters,
            )

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many conversations and invocations there are in all."""
        return await count_nodes(
            self._graph, {"Conversation": "conversations", "Invocation": "invocations"}
        )

    @answer(GET_CONVERSATION)
    async def get(self, request: GetConversationMemoryRequest) -> GetConversationMemoryResponse:
        """Read a record, or as much of it as one answer may hold."""
        key = ConversationKey.of(request)
        opted_out = await self._opt_outs.is_out(request.user)
        if request.last is not None:
            if opted_out:
                nothing = ConversationMemory(conversation_id=key.conversation_id, invocations=())
                return GetConversationMemoryResponse(conversation=nothing, opted_out=True)
            record, earlier = await self._store.newest(key, request.last)
            summary = (
                await self._store.condensed(key, len(record.invocations), self._earlier_characters)
                if earlier and self._earlier_characters
                else ""
            )
            return GetConversationMemoryResponse(
                conversation=record, earlier=earlier, earlier_summary=summary
            )
        record, later = await self._store.oldest(key, request.offset, request.limit or MAX_OFFSET)
        following = request.offset + len(record.invocations) if later else None
        return GetConversationMemoryResponse(
            conversation=record, next_offset=following, opted_out=opted_out
        )

    @answer(GET_RUN)
    async def get_run(self, request: GetRunRequest) -> GetRunResponse:
        """Say what was considered for a run."""
        return await self._store.run(request.scope, request.run_id)

    @answer(LIST_CONVERSATIONS)
    async def list(self, request: ListConversationsRequest) -> ListConversationsResponse:
        """Read a page of a scope's conversations."""
        listed, total = await self._store.page(request.scope, request.limit, request.offset)
        return ListConversationsResponse(conversations=tuple(listed), total=total)

    @answer_batch(UPDATE_CONVERSATION)
    async def update(
        self, requests: Sequence[UpdateConversationMemoryRequest]
    ) -> Sequence[UpdateConversationMemoryResponse]:
        """Append summaries that were made elsewhere.

        Raises:
            QuotaExceededError: there is no room for one, and the flow evicts nothing.
        """
        requests = [(await self._privacy.clean(request)).message for request in requests]
        reasons = await self._retained.append(
            [
                InvocationRecord.from_summary(
                    ConversationKey.of(request), request.invocation_summary, received.sent_at
                )
                for request, received in zip(requests, current_envelopes(), strict=True)
            ],
            datetime.now(UTC),
        )
        return [UpdateConversationMemoryResponse(success=each is None) for each in reasons]

    @on_batch(INVOCATION_ENDED)
    async def record_runs(self, events: Sequence[InvocationEnded]) -> None:
        """Append what finished runs were asked, did and answered."""
        events = [(await self._privacy.clean(event)).message for event in events]
        records = [
            InvocationRecord.from_run(event, received.sent_at)
            for event, received in zip(events, current_envelopes(), strict=True)
        ]
        await self._retained.append(records, datetime.now(UTC))

    @on_batch(DIALOGUE_RECORDED, max_batch_size=_MAX_TURNS)
    async def record_turns(self, turns: Sequence[DialogueTurn]) -> None:
        """Append imported dialogue."""
        turns = [(await self._privacy.clean(turn)).message for turn in turns]
        records = [
            InvocationRecord.from_turn(turn, received.sent_at)
            for turn, received in zip(turns, current_envelopes(), strict=True)
        ]
        await self._retained.append(records, datetime.now(UTC))

    @answer(END_CONVERSATION)
    async def end(self, request: EndConversationRequest) -> EndConversationResponse:
        """End a conversation."""
        return EndConversationResponse(ended=await self._ending.end(ConversationKey.of(request)))

    @answer(ERASE_CONVERSATIONS)
    async def erase(self, request: EraseRequest) -> EraseResponse:
        """Forget the invocations that are selected."""
        return await answer_erase(request, current_envelope().sent_at, self._forgetting, _erased)

    @answer(OPT_OUT_CONVERSATIONS)
    async def opt_out(self, request: OptOutRequest) -> OptOutResponse:
        """Record a user no more, or again."""
        return await change_opt_out(
            self._opt_outs,
            request,
            current_envelope().sent_at,
            scopes=lambda: self._forgetting.scopes(request.user),
            memories=self._forgetting,
        )


def _erased(exchange: Exchange) -> Erased:
    return Erased(
        kind="exchange",
        id=exchange.invocation_id,
        content=exchange.content,
        conversation_id=exchange.conversation_id,
        invocation_id=exchange.invocation_id,
    )
