"""`agent` (react_mem): answers questions with four tiers of memory in its context."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from operator import attrgetter
from typing import Self

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.run import Run
from fourtier.agents.react_mem.tools.toolbox import Toolbox, build_toolbox
from fourtier.agents.react_mem.unpersisted import UnpersistedAnswers, unpersisted_answers
from fourtier.models.genai import agent_operation
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Service,
    ServiceContext,
    current_envelope,
    stream,
)
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse

#: Characters of a run's id; the ids of its steps begin with it.
_MAX_RUN_ID = 256


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
            "archive",
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
        privacy: Privacy,
    ) -> None:
        self._privacy = privacy
        self._caller = caller
        self._toolbox = toolbox
        self.settings = parameters
        self._answers = answers

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: AgentParameters
    ) -> AsyncGenerator[Self]:
        """Load the tools, and see that the prompts can be read."""
        parameters.read_prompts()
        toolbox = build_toolbox(
            parameters.tools,
            seconds=parameters.tool_seconds,
            limit=parameters.observation_characters,
            memory=parameters.memory_tools,
        )
        async with unpersisted_answers() as answers:
            yield cls(context.caller, toolbox, parameters, answers, context.privacy)

    # The caller waits until the deadline for each reply; a tool has less (`tool-seconds`), and
    # so has the model for each piece.
    @stream(
        AGENT_REQUEST,
        max_concurrency=attrgetter("settings.max_concurrent_runs"),
        max_in_flight=attrgetter("settings.max_runs_in_flight"),
        timeout=AGENT_REQUEST.deadline,
    )
    async def answer(self, request: AgentRequest) -> AsyncGenerator[AgentResponse]:
        """Answer a question; a request without an id gets that of its message."""
        received = current_envelope()
        run = Run(
            request,
            _run_id(request.request_id or received.id),
            self._caller,
            self._toolbox,
            self.settings,
            privacy=self._privacy,
            answers=self._answers,
            asked_at=received.sent_at,
            is_retry=received.is_retry,
        )
        labels = {"gen_ai.agent.name": "react_mem"}
        if request.conversation_id:
            labels["gen_ai.conversation.id"] = request.conversation_id
        with agent_operation("invoke_agent", "react_mem", labels) as operation:
            async with aclosing(run.replies()) as replies:
                async for reply in replies:
                    if reply.error:
                        operation.fail(reply.error)
                    if reply.end_of_dialog:
                        operation.describe(run.usage.attributes)
                    yield reply


def _run_id(given: str) -> str:
    """The id; a long one by its hash, so that the ids of its steps stay within their limit."""
    if len(given) <= _MAX_RUN_ID:
        return given
    return hashlib.sha256(given.encode()).hexdigest()
