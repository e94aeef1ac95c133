"""A run's working memory: every step is on disk before the run continues."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import stamina

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.unpersisted import EndedRun, RunKey, UnpersistedAnswers
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import DeadlineExceededError, FourtierError, UnavailableError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentStep
from fourtier.schema.message import Metadata, Scope
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    DISCARD_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    DiscardWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    GetWorkingMemoryResponse,
    Trace,
    WorkingMemoryItem,
)

log = logging.getLogger(__name__)

#: Seconds for which a repeated request waits to learn what its run has done, and between two
#: attempts: a run that began anew could end with another answer than the one that was given.
_RETRY_SECONDS, _PAUSE = 30.0, 0.5


@dataclass
class RunTrace:
    """What a run has done, in this process and in `working-memory`.

    Attributes:
        shown: the trace for the next prompt, condensed by the service where it has grown.
        items: all items word for word.
        answer: set when the run had ended before, in another delivery of its request.
        unpersisted: why the steps are only in this process; empty while working memory has them.
    """

    run_id: str
    scope: Scope
    caller: Caller
    parameters: AgentParameters
    shown: Trace = field(default_factory=Trace)
    items: list[WorkingMemoryItem] = field(default_factory=list)
    answer: str | None = None
    unpersisted: str = ""

    async def load(self, answers: UnpersistedAnswers, *, is_retry: bool) -> None:
        """Read what an earlier delivery of the same request has done.

        Args:
            answers: those of this replica that working memory does not have.
            is_retry: whether the caller has repeated the request; then working memory is waited for
                longer.
        """
        if (ended := answers.get(self._key)) is not None:
            self.items, self.answer = list(ended.items), ended.answer
            return
        seconds = self.parameters.tier_seconds
        try:
            async with asyncio.timeout(max(seconds, _RETRY_SECONDS) if is_retry else seconds):
                found = await self._read(is_retry=is_retry)
        except (TimeoutError, FourtierError) as error:
            self._continue_unpersisted(error)
            return
        self.items = list(found.trace.items)
        self.answer = found.answer
        if self.items and self.answer is None:
            await self._append([])  # reads the trace back as the next prompt shows it

    @property
    def _key(self) -> RunKey:
        return RunKey(self.scope, self.run_id)

    @property
    def next_step(self) -> int:
        """The number of the step that comes next."""
        return max((item.step + 1 for item in self.items), default=0)

    @property
    def has_ended(self) -> bool:
        """Whether there is an answer, of this delivery of the request or of an earlier one."""
        return self.answer is not None

    @property
    def unfinished(self) -> WorkingMemoryItem | None:
        """The action that was begun and has no observation, if the run was interrupted in one."""
        last = self.items[-1] if self.items else None
        return last if last is not None and last.type == "action" else None

    async def begin_action(
        self, step: int, thought: str, tool: str, arguments: Metadata
    ) -> WorkingMemoryItem:
        """Record what is about to be done."""
        action = self._item(
            step,
            "action",
            f"{tool}({json.dumps(arguments, ensure_ascii=False)})",
            {"tool": tool, "arguments": arguments},
        )
        await self._append([*self._thoughts(step, thought), action])
        return action

    async def end_action(self, action: WorkingMemoryItem, observation: str) -> None:
        """Record the result of an action."""
        metadata: Metadata = {"tool": action.metadata.get("tool", "")}
        await self._append([self._item(action.step, "observation", observation, metadata)])

    async def end(self, step: int, thought: str, answer: str) -> None:
        """Record the final answer, so that a repeated request gets the same."""
        self.answer = answer
        await self._append([*self._thoughts(step, thought), self._item(step, "answer", answer, {})])

    def persist_later(self, answers: UnpersistedAnswers) -> None:
        """Keep an answer that working memory could not take, until it can."""
        if self.unpersisted and self.answer is not None:
            run = EndedRun(self.answer, tuple(self.items))
            answers.add(self._key, run, partial(self._persist, run.items))

    async def discard(self) -> None:
        """Drop the steps of a run that has ended; the reply does not wait for it."""
        if self.unpersisted:
            return
        try:
            await self.caller.publish(
                DISCARD_WORKING_MEMORY.topic,
                DiscardWorkingMemoryRequest(
                    run_id=self.run_id, user=self.scope.user, collection=self.scope.collection
                ),
            )
        except FourtierError as error:
            log.warning("The trace of %s stays until it expires: %s", self.run_id, error)

    def steps(self) -> tuple[AgentStep, ...]:
        """The run as steps of thought, action and observation."""
        by_step: dict[int, dict[str, WorkingMemoryItem]] = {}
        for item in self.items:
            by_step.setdefault(item.step, {})[item.type] = item
        return tuple(_step(kinds) for _, kinds in sorted(by_step.items()) if "action" in kinds)

    def _thoughts(self, step: int, thought: str) -> list[WorkingMemoryItem]:
        """A thought as items: one, or none if it is empty; cut as observations are."""
        text = thought[: self.parameters.observation_characters]
        return [self._item(step, "thought", text, {})] if text else []

    def _item(self, step: int, kind: str, content: str, metadata: Metadata) -> WorkingMemoryItem:
        return WorkingMemoryItem.model_validate(
            {
                "id": f"{self.run_id}/{step}/{kind}",
                "step": step,
                "type": kind,
                "content": content,
                "timestamp": datetime.now(UTC),
                "metadata": metadata,
            }
        )

    async def _read(self, *, is_retry: bool) -> GetWorkingMemoryResponse:
        """Read the trace; for a repeated request again and again until there is an answer."""
        question = GetWorkingMemoryRequest(
            run_id=self.run_id, user=self.scope.user, collection=self.scope.collection, full=True
        )
        # A query is repeated after half of its deadline, so a retry has the shorter one.
        read = (
            GET_WORKING_MEMORY
            if is_retry
            else self.parameters.with_tier_deadline(GET_WORKING_MEMORY)
        )
        async for attempt in stamina.retry_context(
            on=(UnavailableError, BusError),
            attempts=None if is_retry else 1,
            timeout=None,
            wait_initial=_PAUSE,
            wait_max=_PAUSE,
            wait_jitter=0,
        ):
            with attempt:
                return await self.caller.call(read, question)
        raise DeadlineExceededError(read.topic.name, read.deadline)

    async def _append(self, items: list[WorkingMemoryItem]) -> None:
        self.items += items
        if not self.unpersisted:
            try:
                async with asyncio.timeout(self.parameters.tier_seconds):
                    self.shown = await self._persist(items)
            except (TimeoutError, FourtierError) as error:
                self._continue_unpersisted(error)
        if self.unpersisted:
            self.shown = Trace(items=tuple(self.items))

    async def _persist(self, items: Sequence[WorkingMemoryItem]) -> Trace:
        appended = await self.caller.call(
            self.parameters.with_tier_deadline(APPEND_WORKING_MEMORY),
            AppendWorkingMemoryRequest(
                run_id=self.run_id,
                user=self.scope.user,
                collection=self.scope.collection,
                items=tuple(items),
                threshold=self.parameters.working_memory_threshold,
                keep_last=self.parameters.working_memory_keep,
            ),
        )
        return appended.trace

    def _continue_unpersisted(self, error: Exception) -> None:
        """Continue with what is in this process; persisting is retried after the run has ended."""
        self.unpersisted = (
            str(error) or f"no answer within {self.parameters.tier_seconds:g} seconds"
        )
        TIERS_LEFT_OUT.add(1, {"fourtier.tier": "working-memory"})
        log.warning(
            "The run %s continues without working memory: %s", self.run_id, self.unpersisted
        )


def _step(kinds: dict[str, WorkingMemoryItem]) -> AgentStep:
    action = kinds["action"]
    tool, arguments = action.metadata.get("tool"), action.metadata.get("arguments")
    return AgentStep(
        thought=kinds["thought"].content if "thought" in kinds else "",
        action=tool if isinstance(tool, str) else "",
        arguments=arguments if isinstance(arguments, dict) else {},
        observation=kinds["observation"].content if "observation" in kinds else "",
    )
