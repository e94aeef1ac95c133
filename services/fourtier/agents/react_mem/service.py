"""`agent` (react_mem): answers questions with four tiers of memory in its context."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Self

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.run import Run
from fourtier.agents.react_mem.tools.toolbox import Toolbox, build_toolbox
from fourtier.agents.react_mem.unpersisted import UnpersistedAnswers, unpersisted_answers
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Service,
    ServiceContext,
    current_envelope,
    stream,
)
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse


class AgentService(Service):
    """Answers `agent.request`; one conversation's requests one after another."""

    name = "agent"
    parameters = AgentParameters
    deployment = DeploymentProfile(
        backlog_per_replica=16,  # a replica works on so many runs at once
        drives=["completion"],
        starts_after=[
            "embeddings",
            "completion",
            "facts",
            "episodes",
            "conversations",
            "working-memory",
        ],
    )

    def __init__(
        self,
        caller: Caller,
        toolbox: Toolbox,
        parameters: AgentParameters,
        answers: UnpersistedAnswers,
    ) -> None:
        self._caller = caller
        self._toolbox = toolbox
        self.settings = parameters
        self._answers = answers

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: AgentParameters
    ) -> AsyncGenerator[Self]:
        """Load the tools."""
        toolbox = build_toolbox(
            parameters.tools,
            seconds=parameters.tool_seconds,
            limit=parameters.observation_characters,
        )
        async with unpersisted_answers() as answers:
            yield cls(context.caller, toolbox, parameters, answers)

    @stream(
        AGENT_REQUEST,
        max_concurrency=attrgetter("settings.max_concurrent_runs"),
        max_in_flight=attrgetter("settings.max_runs_in_flight"),
    )
    def answer(self, request: AgentRequest) -> AsyncIterator[AgentResponse]:
        """Run the loop; a request without an id of its own is known by its message's."""
        received = current_envelope()
        run = Run(
            request,
            request.request_id or received.id,
            self._caller,
            self._toolbox,
            self.settings,
            answers=self._answers,
            asked_again=received.is_retry,
        )
        return run.replies()
