"""`promotion`: makes lasting facts and one episode of a conversation that has ended.

Facts are known by their content, and the episode by its conversation: an end that comes again, or
a second end after the conversation went on, writes over what was there.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.learning.choice import MethodName, chosen_method
from fourtier.memory.learning.fallback import ModelWithRules
from fourtier.memory.learning.learned import Method
from fourtier.memory.learning.model_method import COMPLETION_SECONDS, HANDLER_SECONDS
from fourtier.memory.learning.publishing import publish_learned
from fourtier.memory.promotion.conversation import Conversation, read_conversation
from fourtier.memory.promotion.model_method import MAX_PARTS, PromotionByModel
from fourtier.memory.promotion.statements_method import PromotionByRule
from fourtier.models.text.prompts import Prompt
from fourtier.runtime.privacy.redactor import Privacy
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

#: That the model may take for all parts of a conversation, and for its episode.
_SECONDS = (MAX_PARTS + 1) * COMPLETION_SECONDS


class PromotionParameters(Parameters):
    """How to find what lasts."""

    method: MethodName = Field(
        default="auto",
        description="`llm` asks the flow's model, `statements` are found by rule; `auto` asks the "
        "model where the environment names one",
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
    prompts: dict[Literal["part", "whole"], Prompt] = Field(
        default={}, description="instead of those that the model is asked with"
    )
    candidates: int = Field(
        default=20,
        ge=0,
        le=100,
        description="known facts that the model is shown beside each part of a conversation",
    )
    model_outage_seconds: float = Field(
        default=300,
        ge=0,
        description="for how long conversations wait for a model that is unavailable; then the "
        "rules learn from them",
    )


class PromotionService(Service):
    """Hears of conversations that have ended."""

    name = "promotion"
    parameters = PromotionParameters
    deployment = DeploymentProfile(backlog_per_replica=32, drives=["completion"])

    def __init__(
        self,
        caller: Caller,
        privacy: Privacy,
        method: Method[Conversation],
        max_invocations: int,
    ) -> None:
        self._caller = caller
        self._privacy = privacy
        self._method = method
        self._max_invocations = max_invocations

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: PromotionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller, facts, steps = context.caller, parameters.max_facts, parameters.max_steps
        rules = PromotionByRule(cls.name, parameters.max_statements, facts, steps)
        model = PromotionByModel(
            caller,
            facts,
            part_tokens=parameters.part_tokens,
            max_steps=steps,
            candidates=parameters.candidates,
            prompts=parameters.prompts,
        )
        method = chosen_method(
            parameters.method,
            context.settings,
            service=cls.name,
            by_rule=rules,
            by_model=ModelWithRules(
                cls.name,
                model=model,
                rules=rules,
                seconds=_SECONDS,
                outage_seconds=parameters.model_outage_seconds,
            ),
        )
        yield cls(caller, context.privacy, method, parameters.max_invocations)

    @on(CONVERSATION_ENDED, timeout=_SECONDS + HANDLER_SECONDS)
    async def promote(self, event: ConversationEnded) -> None:
        """Read the record and store what lasts; commands are named after the event's message.

        A model takes its time, and something may be forgotten meanwhile: then what it made of that
        is dropped, and what is left is read anew.
        """
        learned_at = datetime.now(UTC)
        conversation = await self._read(event)
        while conversation.invocations:
            # Records that were written before the flow's policy was as it is now.
            allowed = [
                (await self._privacy.clean(each)).message for each in conversation.invocations
            ]
            learned = await self._method.learn(replace(conversation, invocations=allowed))
            before, read_at = conversation, learned_at
            learned_at = datetime.now(UTC)
            conversation = await self._read(event)
            if conversation.has_all_of(before):
                await publish_learned(
                    self._caller, self._privacy, current_envelope().id, learned.read_at(read_at)
                )
                return
            log.info("Some of %s was forgotten: it is read again.", event.conversation_id)
        log.info(
            "The conversation %s is gone, or its user has opted out: nothing to promote.",
            event.conversation_id,
        )

    async def _read(self, event: ConversationEnded) -> Conversation:
        return await read_conversation(self._caller, event, self._max_invocations)
