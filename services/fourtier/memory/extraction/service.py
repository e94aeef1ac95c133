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
from fourtier.memory.learning.choice import MethodName, chosen_method
from fourtier.memory.learning.fallback import ModelWithRules
from fourtier.memory.learning.learned import Method
from fourtier.memory.learning.model_method import COMPLETION_SECONDS, HANDLER_SECONDS
from fourtier.memory.learning.publishing import publish_learned
from fourtier.models.text.prompts import Prompt
from fourtier.runtime.privacy.redactor import Privacy
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

    method: MethodName = Field(
        default="auto",
        description="`llm` asks the flow's model, `statements` are found by rule; `auto` asks the "
        "model where the environment names one",
    )
    max_statements: int = Field(
        default=50, ge=1, le=MAX_ITEMS, description="facts of one message; more are rejected"
    )
    min_steps: int = Field(
        default=2, ge=1, description="steps with tools that make a run a task, worth an episode"
    )
    prompt_tokens: int = Field(
        default=6_000, ge=200, description="how much of a run the model is shown"
    )
    candidates: int = Field(
        default=10,
        ge=0,
        le=100,
        description="known facts that the model is shown, to say which of them no longer hold",
    )
    model_outage_seconds: float = Field(
        default=300,
        ge=0,
        description="for how long messages wait for a model that is unavailable; then the rules "
        "learn from them",
    )
    tool_facts: bool = Field(
        default=True, description="whether what tools found out becomes facts too"
    )
    prompts: dict[Literal["facts", "tools", "task"], Prompt] = Field(
        default={}, description="instead of those that the model is asked with"
    )


class ExtractionService(Service):
    """Learns from runs and from imported dialogue."""

    name = "extraction"
    parameters = ExtractionParameters
    deployment = DeploymentProfile(backlog_per_replica=32, drives=["completion"])

    def __init__(
        self,
        caller: Caller,
        privacy: Privacy,
        method: Method[Experience],
        parameters: ExtractionParameters,
    ) -> None:
        self._caller = caller
        self._privacy = privacy
        self._method = method
        self._parameters = parameters

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ExtractionParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        caller, limit = context.caller, parameters.max_statements
        rules = ExtractionByRule(cls.name, limit, limit)
        model = ExtractionByModel(
            caller,
            limit,
            prompt_tokens=parameters.prompt_tokens,
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
                seconds=COMPLETION_SECONDS,
                outage_seconds=parameters.model_outage_seconds,
            ),
        )
        yield cls(caller, context.privacy, method, parameters)

    @on(INVOCATION_ENDED, timeout=COMPLETION_SECONDS + HANDLER_SECONDS)
    async def learn_from_run(self, event: InvocationEnded) -> None:
        """Store what a run taught, as far as the agent's flow wants it."""
        event = (await self._privacy.clean(event)).message
        settings = self._parameters
        experience = of_run(event, settings.min_steps, tool_facts=settings.tool_facts)
        learned = await self._method.learn(experience)
        await publish_learned(self._caller, self._privacy, event.run_id, learned)

    @on(DIALOGUE_RECORDED, timeout=COMPLETION_SECONDS + HANDLER_SECONDS)
    async def learn_from_turn(self, turn: DialogueTurn) -> None:
        """Store what somebody said in past dialogue."""
        turn = (await self._privacy.clean(turn)).message
        learned = await self._method.learn(of_turn(turn))
        cause = f"{turn.conversation_id}/{turn.turn_id}"
        await publish_learned(self._caller, self._privacy, cause, learned)
