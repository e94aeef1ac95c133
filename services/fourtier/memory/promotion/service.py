"""`promotion`: makes lasting facts and one episode of a conversation that has ended.

Facts are known by their content, and the episode by its conversation: an end that comes again, or
a second end after the conversation went on, writes over what was there.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.learning.learned import Method
from fourtier.memory.learning.model_method import COMPLETION_SECONDS
from fourtier.memory.learning.publishing import publish_learned
from fourtier.memory.promotion.conversation import Conversation, read_conversation
from fourtier.memory.promotion.model_method import MAX_PARTS, PromotionByModel
from fourtier.memory.promotion.statements_method import PromotionByRule
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Parameters,
    Service,
    ServiceContext,
    current_envelope,
    on,
)
from fourtier.schema.conversations import CONVERSATION_ENDED, ConversationEnded
from fourtier.schema.message import MAX_ITEMS

log = logging.getLogger(__name__)


class PromotionParameters(Parameters):
    """How to find what lasts."""

    method: Literal["statements", "llm"] = Field(
        default="statements", description="by rule, or by asking the flow's model"
    )
    max_invocations: int = Field(
        default=5_000, ge=2, description="read of one conversation; later ones are left out"
    )
    max_statements: int = Field(
        default=50, ge=1, le=MAX_ITEMS, description="facts of one invocation; more are rejected"
    )
    max_facts: int = Field(
        default=MAX_ITEMS, ge=1, le=MAX_ITEMS, description="facts of one conversation"
    )
    part_tokens: int = Field(
        default=3_000, ge=200, description="how much of a conversation one completion reads"
    )
    max_steps: int = Field(
        default=40, ge=2, le=100, description="lines of an episode; the middle of more is left out"
    )


class PromotionService(Service):
    """Hears of conversations that have ended."""

    name = "promotion"
    parameters = PromotionParameters
    deployment = DeploymentProfile(backlog_per_replica=32, drives=["completion"])

    def __init__(self, caller: Caller, method: Method[Conversation], max_invocations: int) -> None:
        self._caller = caller
        self._method = method
        self._max_invocations = max_invocations

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: PromotionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller, facts, steps = context.caller, parameters.max_facts, parameters.max_steps
        method: Method[Conversation] = (
            PromotionByModel(caller, facts, parameters.part_tokens, steps)
            if parameters.method == "llm"
            else PromotionByRule(cls.name, parameters.max_statements, facts, steps)
        )
        yield cls(caller, method, parameters.max_invocations)

    @on(CONVERSATION_ENDED, timeout=(MAX_PARTS + 1) * COMPLETION_SECONDS)
    async def promote(self, event: ConversationEnded) -> None:
        """Read the record and store what lasts; commands are named after the event's message."""
        conversation = await read_conversation(self._caller, event, self._max_invocations)
        if not conversation.invocations:
            log.info("The conversation %s is gone: nothing to promote.", event.conversation_id)
            return
        learned = await self._method.learn(conversation)
        await publish_learned(self._caller, current_envelope().id, learned)
