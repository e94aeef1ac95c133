"""One run of `react_mem`: remember, reason, act until there is an answer; then tell memory."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from fourtier.agents.react_mem.context import Context, build_context
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.reasoning import Decision, Usage, reason
from fourtier.agents.react_mem.replies import Kind, Replies
from fourtier.agents.react_mem.tiers import Remembered, TierReader
from fourtier.agents.react_mem.timings import Timings
from fourtier.agents.react_mem.tools.toolbox import Toolbox
from fourtier.agents.react_mem.trace import RunTrace
from fourtier.agents.react_mem.unpersisted import UnpersistedAnswers
from fourtier.runtime import telemetry
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import (
    INVOCATION_ENDED,
    AgentRequest,
    AgentResponse,
    InvocationEnded,
    RunMetadata,
)
from fourtier.schema.completion import CompletionPiece
from fourtier.schema.working_memory import WorkingMemoryItem
from fourtier.tools.contract import RunContext

log = logging.getLogger(__name__)


class Run:
    """Answers one request, from the start or from where an earlier delivery of it was cut off."""

    def __init__(
        self,
        request: AgentRequest,
        run_id: str,
        caller: Caller,
        toolbox: Toolbox,
        parameters: AgentParameters,
        *,
        answers: UnpersistedAnswers,
        asked_again: bool,
    ) -> None:
        self._request = request
        self._run_id = run_id
        self._conversation_id = request.conversation_id or run_id
        self._caller = caller
        self._toolbox = toolbox
        self._parameters = parameters
        self._answers = answers
        self._asked_again = asked_again
        self._started_at = datetime.now(UTC)
        self._timings = Timings()
        self._usage = Usage()
        self._replies = Replies(run_id, streaming=request.streaming)
        self._trace = RunTrace(run_id, request.scope, caller, parameters)
        self._remembered = Remembered()
        self._context: Context | None = None
        self._offered = (
            toolbox.offered(request.group, memory=request.enable_memory)
            if parameters.enable_tools
            else ()
        )

    async def replies(self) -> AsyncIterator[AgentResponse]:
        """The stream of replies; memory has been told before the last of them."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._load())
            group.create_task(self._remember())
        if self._trace.answer is not None:
            if self._trace.items:  # it may have been cut off before memory was told
                await self._tell_memory(self._trace.answer, succeeded=True)
            yield self._final(self._trace.next_step, self._trace.answer, pieces=False)
            await self._trace.discard()
            return
        with self._timings.part("context"):
            self._context = build_context(self._request, self._remembered, self._parameters)
        if (cut_off := self._trace.unfinished) is not None:
            async for reply in self._take_up(cut_off):
                yield reply
        async for reply in self._loop(self._context):
            yield reply
        if self._trace.has_ended:  # a failed run may come again, and must not begin anew
            await self._trace.discard()

    async def _load(self) -> None:
        """See whether an earlier delivery of the request has begun, or even ended, the run."""
        with self._timings.part("working-memory"):
            await self._trace.load(self._answers, asked_again=self._asked_again)

    async def _remember(self) -> None:
        if self._request.enable_memory:
            reader = TierReader(self._caller, self._parameters, self._timings)
            with self._timings.part("remember"):
                self._remembered = await reader.remember(self._request, self._conversation_id)

    async def _loop(self, context: Context) -> AsyncIterator[AgentResponse]:
        first = self._trace.next_step
        for step in range(first, first + self._steps_left()):
            decision = Decision()
            try:
                async for reply in self._reason(step, context, decision):
                    yield reply
            except CallFailedError as error:  # the model was asked and said no
                yield await self._fail(step, error)
                return
            for reply in self._replies.whole(step, "thought", decision.thought, pieces=True):
                yield reply
            if not decision.tool:
                yield await self._answer(step, decision)
                return
            async for reply in self._act(step, decision):
                yield reply

    async def _reason(
        self, step: int, context: Context, decision: Decision
    ) -> AsyncIterator[AgentResponse]:
        """Stream a step's pieces; in the last step there are no tools, so that it must answer."""
        finish = step >= self._parameters.max_iterations - 1
        messages = context.prompt(self._trace.shown, finish=finish)
        tools = () if finish else self._offered
        with self._timings.part("model"):
            async for piece in reason(self._caller, messages, tools, decision, self._usage):
                for reply in self._replies.piece(step, _kind(piece), piece.content):
                    yield reply

    def _steps_left(self) -> int:
        """At least one, so that a run that was cut off in its last step still answers."""
        return max(1, self._parameters.max_iterations - self._trace.next_step)

    async def _act(self, step: int, decision: Decision) -> AsyncIterator[AgentResponse]:
        with self._timings.part("working-memory"):
            action = await self._trace.begin_action(
                step, decision.thought, decision.tool, decision.arguments or {}
            )
        for reply in self._replies.whole(step, "action", action.content, pieces=False):
            yield reply
        if self._trace.unkept and not self._toolbox.is_idempotent(decision.tool):
            observation = (
                f"The tool {decision.tool} was not run: that it was begun cannot be recorded now, "
                f"and it must never be run twice."
            )
        else:
            observation = await self._use(action)
        async for reply in self._observe(action, observation):
            yield reply

    async def _take_up(self, action: WorkingMemoryItem) -> AsyncIterator[AgentResponse]:
        """Go on with an action that was begun when an earlier delivery was cut off."""
        tool = action.metadata.get("tool")
        if isinstance(tool, str) and self._toolbox.is_idempotent(tool):
            observation = await self._use(action)
        else:
            observation = (
                f"The run was interrupted while {tool} was at work. Whether it took effect is "
                f"unknown; it was not run again."
            )
        async for reply in self._observe(action, observation):
            yield reply

    async def _use(self, action: WorkingMemoryItem) -> str:
        tool, arguments = action.metadata.get("tool"), action.metadata.get("arguments")
        context = RunContext(self._run_id, self._request.scope, self._conversation_id, self._caller)
        with self._timings.part("tools"), telemetry.step(f"tool {tool}"):
            return await self._toolbox.use(
                tool if isinstance(tool, str) else "",
                arguments if isinstance(arguments, dict) else {},
                self._offered,
                context,
            )

    async def _observe(
        self, action: WorkingMemoryItem, observation: str
    ) -> AsyncIterator[AgentResponse]:
        with self._timings.part("working-memory"):
            await self._trace.end_action(action, observation)
        for reply in self._replies.whole(
            action.step, "observation", observation or "(nothing)", pieces=False
        ):
            yield reply

    async def _answer(self, step: int, decision: Decision) -> AgentResponse:
        """Keep the answer, tell memory, and only then let it be sent."""
        with self._timings.part("working-memory"):
            await self._trace.end(step, decision.thought, decision.answer)
        await self._tell_memory(decision.answer, succeeded=True)
        self._trace.hold(self._answers)
        return self._final(step, decision.answer, pieces=True)

    async def _fail(self, step: int, error: CallFailedError) -> AgentResponse:
        """End a run that has no answer; what the user said is remembered all the same."""
        log.error("The run %s has no answer: %s", self._run_id, error)
        await self._tell_memory(f"No answer: {error}", succeeded=False)
        return self._replies.failed(step, error.type, str(error), self._metadata(), self._usage)

    async def _tell_memory(self, answer: str, *, succeeded: bool) -> None:
        if not self._request.enable_memory:
            return
        ended = InvocationEnded(
            user=self._request.user,
            collection=self._request.collection,
            conversation_id=self._conversation_id,
            run_id=self._run_id,
            question=self._request.question,
            answer=answer,
            steps=self._trace.steps(),
            succeeded=succeeded,
            memories=self._context.memories if self._context else (),
            started_at=self._started_at,
            ended_at=datetime.now(UTC),
            extract_facts=self._parameters.enable_auto_fact_extraction,
            record_episode=self._parameters.enable_episode_recording,
        )
        with self._timings.part("tell"):
            await self._caller.publish(INVOCATION_ENDED, ended, message_id=f"{self._run_id}/ended")

    def _final(self, step: int, answer: str, *, pieces: bool) -> AgentResponse:
        return self._replies.final(step, answer, self._metadata(), self._usage, pieces=pieces)

    def _metadata(self) -> RunMetadata:
        left_out = dict(self._remembered.left_out)
        if self._trace.unkept:
            left_out["working-memory"] = self._trace.unkept
        return RunMetadata(
            run_id=self._run_id,
            memories=self._context.memories if self._context else (),
            tiers_left_out=left_out,
            timings_ms=self._timings.milliseconds(),
            steps=self._trace.steps(),
            trace_id=telemetry.trace_id(),
        )


def _kind(piece: CompletionPiece) -> Kind:
    return "thought" if piece.type == "thought" else "answer"
