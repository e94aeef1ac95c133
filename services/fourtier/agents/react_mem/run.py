"""One run of `react_mem`: retrieve memories, reason and act until there is an answer."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime

from fourtier.agents.react_mem.actions import Actions
from fourtier.agents.react_mem.context import Context, build_context
from fourtier.agents.react_mem.finishing import finish
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.reasoning import Decision, Usage, reason
from fourtier.agents.react_mem.replies import Kind, Replies
from fourtier.agents.react_mem.tiers import Memories, TierReader
from fourtier.agents.react_mem.timings import Timings
from fourtier.agents.react_mem.tools.toolbox import Toolbox
from fourtier.agents.react_mem.trace import RunTrace
from fourtier.agents.react_mem.unpersisted import UnpersistedAnswers
from fourtier.runtime import telemetry
from fourtier.runtime.errors import CallFailedError, PermanentError
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import (
    INVOCATION_ENDED,
    AgentRequest,
    AgentResponse,
    InvocationEnded,
    MemoryMode,
    RunMetadata,
)
from fourtier.schema.completion import CompletionPiece, ToolSpec
from fourtier.tools.contract import RunContext

log = logging.getLogger(__name__)


class RequestIdUsedError(PermanentError):
    """The id of a request is that of a run for another question."""

    type = "request-id-used"


class Run:
    """Answers one request, from the start or from where an earlier delivery was interrupted.

    Attributes:
        usage: the tokens of all completions so far.
    """

    def __init__(
        self,
        request: AgentRequest,
        run_id: str,
        caller: Caller,
        toolbox: Toolbox,
        parameters: AgentParameters,
        *,
        privacy: Privacy,
        answers: UnpersistedAnswers,
        asked_at: datetime,
        is_retry: bool,
    ) -> None:
        self._request = request
        self._run_id = run_id
        self._conversation_id = request.conversation_id or run_id
        self._caller = caller
        self._privacy = privacy
        self._parameters = parameters
        self._answers = answers
        self._is_retry = is_retry
        self._timings = Timings()
        self.usage = Usage()
        self._replies = Replies(run_id, streaming=request.streaming)
        question_id = hashlib.sha256(request.question.encode()).hexdigest()
        self._trace = RunTrace(run_id, request.scope, caller, parameters, asked_at, question_id)
        self._memories = Memories()
        self._context: Context | None = None
        self._memory: MemoryMode = parameters.memory_mode(request)
        self._toolbox = toolbox
        self._offered: Sequence[ToolSpec] = ()
        self._asked_at = asked_at

    async def replies(self) -> AsyncGenerator[AgentResponse]:
        """The stream of replies; the end of the run is published before the last of them.

        Closing the stream cancels the run. A cancelled run publishes nothing and can be
        continued: working memory has its finished steps.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._load())
            group.create_task(self._retrieve())
        if self._trace.is_of_another:
            yield await self._reject_used_id()
            return
        if self._opted_out:
            self._memory = "off"
            self._memories = Memories(opted_out=True)
        if self._trace.answer is not None:
            if self._trace.items:  # it may have been interrupted before its end was published
                await self._publish_ended(self._trace.answer, succeeded=True)
            yield await self._final(self._trace.next_step, self._trace.answer, pieces=False)
            await self._trace.discard()
            return
        actions = self._prepare_actions()
        with self._timings.part("context"):
            self._context = build_context(
                self._request, self._memories, self._parameters, self._offered
            )
        async with aclosing(self._act(self._context, actions)) as replies:
            async for reply in replies:
                yield reply
        # A failed run may be repeated, and then continues, unless nothing of it may stay.
        if self._trace.has_ended or self._opted_out:
            await self._trace.discard()

    @property
    def _opted_out(self) -> bool:
        """Whether the user is not remembered, as any of the services that were asked said."""
        return self._trace.opted_out or self._memories.opted_out

    def _prepare_actions(self) -> Actions:
        """Offer the tools that the run may use, as far as it is known by now."""
        request = self._request
        if self._parameters.enable_tools:
            self._offered = self._toolbox.offered(request.group, self._memory)
        return Actions(
            RunContext(
                self._run_id,
                request.scope,
                self._conversation_id,
                self._caller,
                self._asked_at,
                request.question,
            ),
            self._toolbox,
            self._offered,
            trace=self._trace,
            replies=self._replies,
            timings=self._timings,
        )

    async def _load(self) -> None:
        """See whether an earlier delivery of the request has begun, or even ended, the run."""
        with self._timings.part("working-memory"):
            await self._trace.load(self._answers, is_retry=self._is_retry)

    async def _retrieve(self) -> None:
        if self._memory != "off":
            reader = TierReader(self._caller, self._parameters, self._timings, self._run_id)
            with self._timings.part("remember"):
                self._memories = await reader.retrieve(self._request, self._conversation_id)

    async def _act(self, context: Context, actions: Actions) -> AsyncGenerator[AgentResponse]:
        """Finish the action that was interrupted, if there is one, and go on to the answer."""
        if (unfinished := self._trace.unfinished) is not None:
            async with aclosing(actions.resume(unfinished)) as replies:
                async for reply in replies:
                    yield reply
        async with aclosing(self._loop(context, actions)) as replies:
            async for reply in replies:
                yield reply

    async def _loop(self, context: Context, actions: Actions) -> AsyncGenerator[AgentResponse]:
        first = self._trace.next_step
        for step in range(first, first + self._steps_left()):
            decision = Decision()
            try:
                async with aclosing(self._reason(step, context, decision)) as replies:
                    async for reply in replies:
                        yield reply
            except CallFailedError as error:  # the completion service answered with an error
                yield await self._fail(step, error)
                return
            for reply in self._replies.whole(step, "thought", decision.thought, pieces=True):
                yield reply
            if not decision.tool:
                for reply in self._add_for_user(step, decision):
                    yield reply
                yield await self._answer(step, decision)
                return
            async with aclosing(actions.act(step, decision)) as replies:
                async for reply in replies:
                    yield reply

    async def _reason(
        self, step: int, context: Context, decision: Decision
    ) -> AsyncGenerator[AgentResponse]:
        """Stream a step's pieces; in the last step there are no tools, so that it must answer."""
        last = step >= self._parameters.max_iterations - 1
        messages = context.prompt(self._trace.shown, finish=last)
        tools = () if last else self._offered
        pieces = reason(
            self._caller,
            messages,
            tools,
            decision,
            self.usage,
            streaming=self._request.streaming,
        )
        with self._timings.part("model"):
            async with aclosing(pieces):
                async for piece in pieces:
                    for reply in self._replies.piece(step, _kind(piece), piece.content):
                        yield reply

    def _add_for_user(self, step: int, decision: Decision) -> Iterator[AgentResponse]:
        """Put what the user has to read under the answer, whatever the model made of it."""
        if self._trace.for_user:
            added = f"\n\n{self._trace.for_user}" if decision.answer else self._trace.for_user
            decision.answer += added
            yield from self._replies.piece(step, "answer", added)

    def _steps_left(self) -> int:
        """At least one, so that a run that was interrupted in its last step still answers."""
        return max(1, self._parameters.max_iterations - self._trace.next_step)

    async def _answer(self, step: int, decision: Decision) -> AgentResponse:
        """End the run, and only then let the answer be sent.

        A cancellation does not interrupt this: a run whose answer is persisted is published too.
        """
        await finish(self._end(step, decision))
        return await self._final(step, decision.answer, pieces=True)

    async def _end(self, step: int, decision: Decision) -> None:
        with self._timings.part("working-memory"):
            await self._trace.end(step, decision.thought, decision.answer)
        await self._publish_ended(decision.answer, succeeded=True)
        if not self._opted_out:
            self._trace.persist_later(self._answers)

    async def _fail(self, step: int, error: CallFailedError) -> AgentResponse:
        """End a run that has no answer; memory gets the question all the same."""
        log.error("The run %s has no answer: %s", self._run_id, error)
        await finish(self._publish_ended("", succeeded=False))
        return self._replies.failed(step, error, await self._metadata(""), self.usage)

    async def _reject_used_id(self) -> AgentResponse:
        """Fail a request whose id belongs to another question; its run stays as it is."""
        error = RequestIdUsedError(
            f"the request id {self._run_id!r} belongs to another question of this user: give each "
            f"question an id of its own"
        )
        self._memory, self._memories = "off", Memories()
        return self._replies.failed(0, error, await self._metadata(""), self.usage)

    async def _publish_ended(self, answer: str, *, succeeded: bool) -> None:
        """Publish the event from which memory learns; returns when the broker has it.

        The topic and all who read it get it without personal data. A run that has forgotten
        something says no more than that: the answer and the memories may be what was forgotten.
        """
        forgotten = self._trace.forgotten
        if self._memory != "read-write":
            return
        ended = InvocationEnded(
            user=self._request.user,
            collection=self._request.collection,
            conversation_id=self._conversation_id,
            run_id=self._run_id,
            question=self._request.question,
            answer=forgotten or answer,
            steps=self._trace.steps(),
            succeeded=succeeded,
            memories=self._context.memories if self._context and not forgotten else (),
            considered=self._context.considered if self._context and not forgotten else (),
            started_at=self._trace.asked_at,
            ended_at=self._trace.answered_at or datetime.now(UTC),
            extract_facts=self._parameters.enable_auto_fact_extraction,
            record_episode=self._parameters.enable_episode_recording,
        )
        with self._timings.part("publish"):
            ended = (await self._privacy.clean(ended)).message
            await self._caller.publish(INVOCATION_ENDED, ended, message_id=f"{self._run_id}/ended")

    async def _final(self, step: int, answer: str, *, pieces: bool) -> AgentResponse:
        metadata = await self._metadata(answer)
        return self._replies.final(step, answer, metadata, self.usage, pieces=pieces)

    async def _metadata(self, answer: str) -> RunMetadata:
        stored = (self._request.question, answer) if self._memory == "read-write" else ()
        left_out = dict(self._memories.left_out)
        if self._trace.unpersisted:
            left_out["working-memory"] = self._trace.unpersisted
        return RunMetadata(
            run_id=self._run_id,
            memories=self._context.memories if self._context else (),
            considered=self._context.considered if self._context else (),
            tiers_left_out=left_out,
            research=self._memories.research,
            timings_ms=self._timings.milliseconds(),
            steps=self._trace.steps(),
            trace_id=telemetry.trace_id(),
            redacted=await self._privacy.counts(*stored),
            memory=self._memory,
            opted_out=self._opted_out,
        )


def _kind(piece: CompletionPiece) -> Kind:
    return "thought" if piece.type == "thought" else "answer"
