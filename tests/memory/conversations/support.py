"""Messages about conversations, and the ends that were published."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fourtier.runtime.bus.contract import Address, Bus, Mode, Subscription
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import (
    END_CONVERSATION,
    GET_CONVERSATION,
    UPDATE_CONVERSATION,
    ConversationEnded,
    ConversationMemory,
    DialogueTurn,
    EndConversationRequest,
    GetConversationMemoryRequest,
    GetConversationMemoryResponse,
    InvocationSummary,
    UpdateConversationMemoryRequest,
)

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def run(
    run_id: str,
    *,
    minute: int = 0,
    at: datetime | None = None,
    user: str = "ann",
    conversation_id: str = "c1",
    answer: str = "Yes.",
    steps: tuple[AgentStep, ...] = (),
) -> InvocationEnded:
    timestamp = at or START + timedelta(minutes=minute)
    return InvocationEnded(
        user=user,
        conversation_id=conversation_id,
        run_id=run_id,
        question=f"question of {run_id}",
        answer=answer,
        steps=steps,
        started_at=timestamp,
        ended_at=timestamp,
    )


def turn(number: int, *, user: str = "ann", conversation_id: str = "old") -> DialogueTurn:
    return DialogueTurn(
        user=user,
        conversation_id=conversation_id,
        speaker="Caroline",
        content=f"This is sentence {number}.",
        timestamp=datetime(2023, 5, 8, tzinfo=UTC) + timedelta(minutes=number),
        turn_id=f"D1:{number}",
    )


async def record(
    caller: Caller,
    *,
    user: str = "ann",
    collection: str = "default",
    conversation_id: str = "c1",
    last: int | None = None,
) -> ConversationMemory:
    answered = await caller.call(
        GET_CONVERSATION,
        GetConversationMemoryRequest(
            user=user, collection=collection, conversation_id=conversation_id, last=last
        ),
    )
    return answered.conversation


async def page(
    caller: Caller, *, offset: int = 0, limit: int | None = None, conversation_id: str = "c1"
) -> GetConversationMemoryResponse:
    return await caller.call(
        GET_CONVERSATION,
        GetConversationMemoryRequest(
            user="ann", conversation_id=conversation_id, offset=offset, limit=limit
        ),
    )


async def update(
    caller: Caller,
    query: str,
    *,
    minute: int = 0,
    summary_id: str = "",
    user: str = "ann",
    collection: str = "default",
    conversation_id: str = "c1",
    stored: bool = True,
) -> None:
    summary = InvocationSummary(
        id=summary_id, query=query, timestamp=START + timedelta(minutes=minute)
    )
    answered = await caller.call(
        UPDATE_CONVERSATION,
        UpdateConversationMemoryRequest(
            user=user,
            collection=collection,
            conversation_id=conversation_id,
            invocation_summary=summary,
        ),
    )
    assert answered.success == stored


async def end(caller: Caller, *, user: str = "ann", conversation_id: str = "c1") -> bool:
    answered = await caller.call(
        END_CONVERSATION, EndConversationRequest(user=user, conversation_id=conversation_id)
    )
    return answered.ended


@dataclass(frozen=True)
class End:
    """An event as it was published."""

    message_id: str
    event: ConversationEnded


class Ends:
    """The ends that were published and not yet read."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription

    async def next(self) -> End:
        delivery = await self._subscription.receive()
        await delivery.acknowledge()
        event = ConversationEnded.model_validate_json(delivery.payload)
        return End(delivery.properties["id"], event)

    def waiting(self) -> int:
        return len(self._subscription.arrived(1_000))


@asynccontextmanager
async def reading_ends(bus: Bus) -> AsyncGenerator[Ends]:
    async with bus.subscribe(
        Address("conversation.ended"), "test", Mode.KEY_SHARED
    ) as subscription:
        yield Ends(subscription)
