"""`conversations`: what happened in each conversation, in order; never searched."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Self

from pydantic import Field

from fourtier.engines.config import engine_config
from fourtier.engines.counting import count_nodes
from fourtier.engines.graph.protocol import GraphStore
from fourtier.engines.opening import open_graph
from fourtier.memory.conversations.ending import Ending
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.conversations.store import SCHEMA, ConversationStore
from fourtier.runtime.service import (
    Parameters,
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    on_batch,
    periodic,
)
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import (
    DELETE_CONVERSATION,
    DIALOGUE_RECORDED,
    END_CONVERSATION,
    GET_CONVERSATION,
    LIST_CONVERSATIONS,
    UPDATE_CONVERSATION,
    DeleteConversationRequest,
    DeleteConversationResponse,
    DialogueTurn,
    EndConversationRequest,
    EndConversationResponse,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
    ListConversationsRequest,
    ListConversationsResponse,
    UpdateConversationMemoryRequest,
    UpdateConversationMemoryResponse,
)
from fourtier.schema.message import MAX_OFFSET
from fourtier.schema.status import StoreCount

#: Imports come in floods; a bigger batch costs the same one commit.
_MAX_TURNS = 256


class ConversationsParameters(Parameters):
    """When a conversation ends that no call has ended."""

    idle_seconds: float = Field(
        default=1_800,
        gt=0,
        le=315_360_000,  # ten years: so long ago must still be a date
        description="without anything new for so long, a conversation has ended",
    )
    sweep_seconds: float = Field(
        default=10, gt=0, description="pause between two looks for such conversations"
    )


class ConversationsService(Service):
    """Owns the records of all conversations."""

    name = "conversations"
    parameters = ConversationsParameters
    stores = Stores(SCHEMA)

    def __init__(self, store: ConversationStore, ending: Ending, graph: GraphStore) -> None:
        self._store = store
        self._graph = graph
        self._ending = ending

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ConversationsParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and begin to look for idle conversations."""
        async with open_graph(engine_config(context), SCHEMA) as graph:
            store = ConversationStore(graph)
            idle = timedelta(seconds=parameters.idle_seconds)
            ending = Ending(store, context.caller, idle)
            async with periodic(
                "The sweep of idle conversations", parameters.sweep_seconds, ending.sweep
            ):
                yield cls(store, ending, graph)

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many conversations and invocations there are in all."""
        return await count_nodes(
            self._graph, {"Conversation": "conversations", "Invocation": "invocations"}
        )

    @answer(GET_CONVERSATION)
    async def get(self, request: GetConversationMemoryRequest) -> GetConversationMemoryResponse:
        """Read a record, or as much of it as one answer may hold."""
        key = ConversationKey.of(request)
        if request.last is not None:
            record, earlier = await self._store.newest(key, request.last)
            return GetConversationMemoryResponse(conversation=record, earlier=earlier)
        record, later = await self._store.oldest(key, request.offset, request.limit or MAX_OFFSET)
        following = request.offset + len(record.invocations) if later else None
        return GetConversationMemoryResponse(conversation=record, next_offset=following)

    @answer(LIST_CONVERSATIONS)
    async def list(self, request: ListConversationsRequest) -> ListConversationsResponse:
        """Read a page of a scope's conversations."""
        listed, total = await self._store.page(request.scope, request.limit, request.offset)
        return ListConversationsResponse(conversations=tuple(listed), total=total)

    @answer_batch(UPDATE_CONVERSATION)
    async def update(
        self, requests: Sequence[UpdateConversationMemoryRequest]
    ) -> Sequence[UpdateConversationMemoryResponse]:
        """Append summaries that were made elsewhere."""
        now = datetime.now(UTC)
        await self._store.append(
            [
                InvocationRecord.from_summary(
                    ConversationKey.of(request), request.invocation_summary, now
                )
                for request in requests
            ],
            now,
        )
        return [UpdateConversationMemoryResponse(success=True)] * len(requests)

    @on_batch(INVOCATION_ENDED)
    async def record_runs(self, events: Sequence[InvocationEnded]) -> None:
        """Append what finished runs were asked, did and answered."""
        records = [InvocationRecord.from_run(event) for event in events]
        await self._store.append(records, datetime.now(UTC))

    @on_batch(DIALOGUE_RECORDED, max_batch_size=_MAX_TURNS)
    async def record_turns(self, turns: Sequence[DialogueTurn]) -> None:
        """Append imported dialogue."""
        now = datetime.now(UTC)
        await self._store.append([InvocationRecord.from_turn(turn, now) for turn in turns], now)

    @answer(END_CONVERSATION)
    async def end(self, request: EndConversationRequest) -> EndConversationResponse:
        """End a conversation."""
        return EndConversationResponse(ended=await self._ending.end(ConversationKey.of(request)))

    @answer(DELETE_CONVERSATION)
    async def delete(self, request: DeleteConversationRequest) -> DeleteConversationResponse:
        """Delete a conversation."""
        deleted = await self._store.delete(ConversationKey.of(request))
        return DeleteConversationResponse(deleted=deleted)
