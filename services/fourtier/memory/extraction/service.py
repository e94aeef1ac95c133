"""`extraction`: makes facts, and of a task an episode, of what has happened. It only hears events.

Every command that it sends has an id made from the run or the turn, so that an event that comes
again is harmless.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.extraction.experience import Experience, of_run, of_turn
from fourtier.memory.extraction.model_method import ExtractionByModel
from fourtier.memory.extraction.statements_method import ExtractionByRule
from fourtier.memory.learning.learned import Method
from fourtier.memory.learning.model_method import COMPLETION_SECONDS
from fourtier.memory.learning.publishing import publish_learned
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Parameters,
    Service,
    ServiceContext,
    on,
)
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.message import MAX_ITEMS


class ExtractionParameters(Parameters):
    """How to learn, and from what."""

    method: Literal["statements", "llm"] = Field(
        default="statements", description="by rule, or by asking the flow's model"
    )
    max_statements: int = Field(
        default=50, ge=1, le=MAX_ITEMS, description="facts of one message; more are rejected"
    )
    min_steps: int = Field(
        default=2, ge=1, description="steps with tools that make a run a task, worth an episode"
    )
    prompt_tokens: int = Field(
        default=6_000, ge=200, description="how much of a run the model is shown, for `llm`"
    )


class ExtractionService(Service):
    """Learns from runs and from imported dialogue."""

    name = "extraction"
    parameters = ExtractionParameters
    deployment = DeploymentProfile(backlog_per_replica=32, drives=["completion"])

    def __init__(self, caller: Caller, method: Method[Experience], min_steps: int) -> None:
        self._caller = caller
        self._method = method
        self._min_steps = min_steps

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ExtractionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller, limit = context.caller, parameters.max_statements
        method: Method[Experience] = (
            ExtractionByModel(caller, limit, parameters.prompt_tokens)
            if parameters.method == "llm"
            else ExtractionByRule(cls.name, limit, limit)
        )
        yield cls(caller, method, parameters.min_steps)

    @on(INVOCATION_ENDED, timeout=COMPLETION_SECONDS)
    async def learn_from_run(self, event: InvocationEnded) -> None:
        """Store what a run taught, as far as the agent's flow wants it."""
        learned = await self._method.learn(of_run(event, self._min_steps))
        await publish_learned(self._caller, event.run_id, learned)

    @on(DIALOGUE_RECORDED, timeout=COMPLETION_SECONDS)
    async def learn_from_turn(self, turn: DialogueTurn) -> None:
        """Store what somebody said in past dialogue."""
        learned = await self._method.learn(of_turn(turn))
        await publish_learned(self._caller, f"{turn.conversation_id}/{turn.turn_id}", learned)
