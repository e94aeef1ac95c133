"""A run's working memory: every step is on disk before the run goes on."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.unpersisted import EndedRun, RunKey, UnpersistedAnswers
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError, UnavailableError
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

#: Seconds for which a request that was asked again waits to learn what was done before, and between
#: two questions: begun anew, it could get another answer than the one that was given.
_ASKED_AGAIN, _PAUSE = 30.0, 0.5


@dataclass
class RunTrace:
    """What a run has done, in this process and in `working-memory`.

    Attributes:
        shown: the trace for the next prompt, condensed by the service where it has grown.
        items: all items word for word.
        answer: set when the run had ended before, in another delivery of its request.
        unkept: why the steps are only in this process, when `working-memory` is down.
    """

    run_id: str
    scope: Scope
    caller: Caller
    parameters: AgentParameters
    shown: Trace = field(default_factory=Trace)
    items: list[WorkingMemoryItem] = field(default_factory=list)
    answer: str | None = None
    unkept: str = ""

    async def load(self, answers: UnpersistedAnswers, *, asked_again: bool) -> None:
        """Read what an earlier delivery of the same request has done.

        Args:
            answers: of this replica, which working memory does not have.
            asked_again: whether there was an earlier delivery; then it is worth a longer wait.
        """
        if (ended := answers.get(self._key)) is not None:
            self.items, self.answer = list(ended.items), ended.answer
            return
        seconds = self.parameters.tier_seconds
        try:
            async with asyncio.timeout(max(seconds, _ASKED_AGAIN) if asked_again else seconds):
                found = await self._read(insist=asked_again)
        except (TimeoutError, FourtierError, BusError) as error:
            self._lose(error)
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
        """Whether there is an answer, from this delivery of the request or an earlier one."""
        return self.answer is not None

    @property
    def unfinished(self) -> WorkingMemoryItem | None:
        """The action that was begun and has no observation, if the run was cut off in one."""
        last = self.items[-1] if self.items else None
        return last if last is not None and last.type == "action" else None

    async def begin_action(
        self, step: int, thought: str, tool: str, arguments: Metadata
    ) -> WorkingMemoryItem:
        """Write down what is about to be done."""
        action = self._item(
            step,
            "action",
            f"{tool}({json.dumps(arguments, ensure_ascii=False)})",
            {"tool": tool, "arguments": arguments},
        )
        thoughts = [self._item(step, "thought", thought, {})] if thought else []
        await self._append([*thoughts, action])
        return action

    async def end_action(self, action: WorkingMemoryItem, observation: str) -> None:
        """Write down what came of it."""
        metadata: Metadata = {"tool": action.metadata.get("tool", "")}
        await self._append([self._item(action.step, "observation", observation, metadata)])

    async def end(self, step: int, thought: str, answer: str) -> None:
        """Write down the final answer, so that it is given and not worked out again."""
        self.answer = answer
        thoughts = [self._item(step, "thought", thought, {})] if thought else []
        await self._append([*thoughts, self._item(step, "answer", answer, {})])

    def hold(self, answers: UnpersistedAnswers) -> None:
        """See that a repeated request finds the answer even where working memory has none."""
        if self.unkept and self.answer is not None:
            run = EndedRun(self.answer, tuple(self.items))
            answers.keep(self._key, run, partial(self._keep, run.items))

    async def discard(self) -> None:
        """Drop the steps; the run is over and told, and nobody waits for this."""
        if self.unkept:
            return
        try:
            await self.caller.publish(
                DISCARD_WORKING_MEMORY.topic,
                DiscardWorkingMemoryRequest(
                    run_id=self.run_id, user=self.scope.user, collection=self.scope.collection
                ),
            )
        except BusError as error:
            log.warning("The trace of %s stays until it expires: %s", self.run_id, error)

    def steps(self) -> tuple[AgentStep, ...]:
        """The run as steps of thought, action and observation."""
        by_step: dict[int, dict[str, WorkingMemoryItem]] = {}
        for item in self.items:
            by_step.setdefault(item.step, {})[item.type] = item
        return tuple(_step(kinds) for _, kinds in sorted(by_step.items()) if "action" in kinds)

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

    async def _read(self, *, insist: bool) -> GetWorkingMemoryResponse:
        """Ask for the trace; with `insist` until there is an answer."""
        question = GetWorkingMemoryRequest(
            run_id=self.run_id, user=self.scope.user, collection=self.scope.collection, full=True
        )
        # One that nobody heard is asked again after half of its time, so with `insist` it has less.
        read = GET_WORKING_MEMORY if insist else self.parameters.patient(GET_WORKING_MEMORY)
        while True:
            try:
                return await self.caller.call(read, question)
            except (UnavailableError, BusError) as error:
                if not insist:
                    raise
                log.info("What %s has done is asked for again: %s", self.run_id, error)
                await asyncio.sleep(_PAUSE)

    async def _append(self, items: list[WorkingMemoryItem]) -> None:
        self.items += items
        if not self.unkept:
            try:
                async with asyncio.timeout(self.parameters.tier_seconds):
                    self.shown = await self._keep(items)
            except (TimeoutError, FourtierError, BusError) as error:
                self._lose(error)
        if self.unkept:
            self.shown = Trace(items=tuple(self.items))

    async def _keep(self, items: Sequence[WorkingMemoryItem]) -> Trace:
        appended = await self.caller.call(
            self.parameters.patient(APPEND_WORKING_MEMORY),
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

    def _lose(self, error: Exception) -> None:
        """Go on with what is in this process; it is not tried again before the run has ended."""
        self.unkept = str(error) or f"no answer within {self.parameters.tier_seconds:g} seconds"
        TIERS_LEFT_OUT.add(1, {"fourtier.tier": "working-memory"})
        log.warning("The run %s goes on without working memory: %s", self.run_id, self.unkept)


def _step(kinds: dict[str, WorkingMemoryItem]) -> AgentStep:
    action = kinds["action"]
    tool, arguments = action.metadata.get("tool"), action.metadata.get("arguments")
    return AgentStep(
        thought=kinds["thought"].content if "thought" in kinds else "",
        action=tool if isinstance(tool, str) else "",
        arguments=arguments if isinstance(arguments, dict) else {},
        observation=kinds["observation"].content if "observation" in kinds else "",
    )
