"""`promotion`: makes lasting facts and one episode of a conversation that has ended.

Facts are known by their content, and the episode by its conversation: an end that comes again, or
a second end after the conversation went on, writes over what was there.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.promotion.by_model import ModelMethod
from fourtier.memory.promotion.by_rule import StatementsMethod
from fourtier.memory.promotion.promoting import Method
from fourtier.memory.statements.keeping import keep_episode, keep_facts
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Parameters,
    Service,
    ServiceContext,
    current_envelope,
    on,
)
from fourtier.schema.conversations import (
    CONVERSATION_ENDED,
    GET_CONVERSATION,
    ConversationEnded,
    GetConversationMemoryRequest,
)

log = logging.getLogger(__name__)


class PromotionParameters(Parameters):
    """How to find what lasts."""

    method: Literal["statements", "llm"] = Field(
        default="statements", description="by rule, or by asking the flow's model"
    )
    part_tokens: int = Field(
        default=3_000, ge=200, description="how much of a conversation one completion reads"
    )
    most_steps: int = Field(
        default=40, ge=2, description="lines of an episode; the middle of more is left out"
    )


class PromotionService(Service):
    """Hears of conversations that have ended."""

    name = "promotion"
    parameters = PromotionParameters
    deployment = DeploymentProfile(backlog_per_replica=32, drives=["completion"])

    def __init__(self, caller: Caller, method: Method) -> None:
        self._caller = caller
        self._method = method

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: PromotionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller = context.caller
        method: Method = (
            ModelMethod(caller, parameters.part_tokens, parameters.most_steps)
            if parameters.method == "llm"
            else StatementsMethod(parameters.most_steps)
        )
        yield cls(caller, method)

    @on(CONVERSATION_ENDED)
    async def promote(self, event: ConversationEnded) -> None:
        """Read the record and keep what lasts. The commands are named after the event's message."""
        found = await self._caller.call(
            GET_CONVERSATION,
            GetConversationMemoryRequest(
                user=event.user,
                collection=event.collection,
                conversation_id=event.conversation_id,
            ),
        )
        invocations = found.conversation.invocations
        if not invocations:
            log.info("The conversation %s is gone: nothing to promote.", event.conversation_id)
            return
        promoted = await self._method.promote(event, invocations)
        await keep_facts(self._caller, current_envelope().id, promoted.facts)
        if promoted.episode is not None:
            await keep_episode(self._caller, current_envelope().id, promoted.episode)
