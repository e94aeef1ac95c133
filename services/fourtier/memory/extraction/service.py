"""`extraction`: makes facts, and of a task an episode, of what has happened. It only hears events.

Every command that it sends has an id made from the run or the turn, so that an event that comes
again is harmless.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.extraction.by_model import ModelMethod
from fourtier.memory.extraction.by_rule import StatementsMethod
from fourtier.memory.extraction.learning import Learned, Method
from fourtier.memory.extraction.task import task_steps
from fourtier.memory.statements.keeping import keep_episode, keep_facts
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


class ExtractionParameters(Parameters):
    """How to learn, and from what."""

    method: Literal["statements", "llm"] = Field(
        default="statements", description="by rule, or by asking the flow's model"
    )
    least_steps: int = Field(
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

    def __init__(self, caller: Caller, method: Method, least_steps: int) -> None:
        self._caller = caller
        self._method = method
        self._least_steps = least_steps

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ExtractionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller = context.caller
        method: Method = (
            ModelMethod(caller, parameters.prompt_tokens)
            if parameters.method == "llm"
            else StatementsMethod()
        )
        yield cls(caller, method, parameters.least_steps)

    @on(INVOCATION_ENDED)
    async def learn_from_run(self, event: InvocationEnded) -> None:
        """Keep what a run taught, as far as the agent's flow wants it."""
        steps = task_steps(event) if event.record_episode else []
        task = tuple(steps) if len(steps) >= self._least_steps else ()
        learned = await self._method.from_run(event, facts=event.extract_facts, task=task)
        await self._keep(event.run_id, learned)

    @on(DIALOGUE_RECORDED)
    async def learn_from_turn(self, turn: DialogueTurn) -> None:
        """Keep what somebody said in past dialogue."""
        learned = await self._method.from_turn(turn)
        await self._keep(f"{turn.conversation_id}/{turn.turn_id}", learned)

    async def _keep(self, cause: str, learned: Learned) -> None:
        await keep_facts(self._caller, cause, learned.facts)
        if learned.episode is not None:
            await keep_episode(self._caller, cause, learned.episode)
