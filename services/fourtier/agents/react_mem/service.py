"""`agent` (react_mem): answers questions with four tiers of memory in its context."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import ClassVar, Self

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.run import Run
from fourtier.agents.react_mem.tools.toolbox import Toolbox, build_toolbox
from fourtier.agents.react_mem.unpersisted import UnkeptAnswers, unkept_answers
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.envelope import handling
from fourtier.runtime.rpc.routes import Route, stream
from fourtier.runtime.service.context import Surroundings
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse


class AgentService:
    """Answers `agent.request`; one conversation's requests one after another."""

    parameters: ClassVar[type[AgentParameters]] = AgentParameters

    def __init__(
        self,
        caller: Caller,
        toolbox: Toolbox,
        parameters: AgentParameters,
        answers: UnkeptAnswers,
    ) -> None:
        self._caller = caller
        self._toolbox = toolbox
        self._parameters = parameters
        self._answers = answers

    @classmethod
    @asynccontextmanager
    async def open(
        cls, surroundings: Surroundings, parameters: AgentParameters
    ) -> AsyncGenerator[Self]:
        """Load the tools."""
        toolbox = build_toolbox(
            parameters.tools,
            seconds=parameters.tool_seconds,
            limit=parameters.observation_characters,
        )
        async with unkept_answers() as answers:
            yield cls(surroundings.caller, toolbox, parameters, answers)

    def routes(self) -> Iterator[Route]:
        """What it handles."""
        yield stream(
            AGENT_REQUEST,
            self.answer,
            side_by_side=self._parameters.runs_side_by_side,
            most_in_hand=self._parameters.runs_in_hand,
        )

    def answer(self, request: AgentRequest) -> AsyncIterator[AgentResponse]:
        """Run the loop; a request without an id of its own is known by its message's."""
        around = handling()
        run = Run(
            request,
            request.request_id or around.id,
            self._caller,
            self._toolbox,
            self._parameters,
            answers=self._answers,
            asked_again=around.again,
        )
        return run.replies()
