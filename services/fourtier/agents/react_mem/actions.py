"""The actions of a run: each is recorded, a tool is used, and the observation is recorded."""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import timedelta

from fourtier.agents.react_mem.observation import Observation
from fourtier.agents.react_mem.reasoning import Decision
from fourtier.agents.react_mem.replies import Replies
from fourtier.agents.react_mem.timings import Timings
from fourtier.agents.react_mem.tools.toolbox import MAX_ARGUMENTS, Toolbox
from fourtier.agents.react_mem.trace import RunTrace
from fourtier.runtime.privacy.kinds import placeholders
from fourtier.schema.agent import AgentResponse
from fourtier.schema.completion import MALFORMED_ARGUMENTS, ToolSpec
from fourtier.schema.message import Metadata
from fourtier.schema.working_memory import WorkingMemoryItem
from fourtier.tools.contract import RunContext

_TICK = timedelta(microseconds=1)


class Actions:
    """The actions of one run.

    Args:
        context: what a tool gets to know of the run.
        offered: the tools that the run may use.
    """

    def __init__(
        self,
        context: RunContext,
        toolbox: Toolbox,
        offered: Sequence[ToolSpec],
        *,
        trace: RunTrace,
        replies: Replies,
        timings: Timings,
    ) -> None:
        self._context = context
        self._toolbox = toolbox
        self._offered = offered
        self._trace = trace
        self._replies = replies
        self._timings = timings

    async def act(self, step: int, decision: Decision) -> AsyncGenerator[AgentResponse]:
        """Use the tool that the model has chosen; gives the action and its observation."""
        with self._timings.part("working-memory"):
            action = await self._trace.begin_action(
                step, decision.thought, decision.tool, _bounded(decision.arguments or {})
            )
        for reply in self._replies.whole(step, "action", action.content, pieces=False):
            yield reply
        if self._trace.unpersisted and not self._toolbox.is_idempotent(decision.tool):
            observation = Observation(
                f"The tool {decision.tool} was not run: its start cannot be recorded now, and it "
                f"must never be run twice.",
                "not-run",
            )
        else:
            observation = await self._use(action)
        for reply in await self._observe(action, observation):
            yield reply

    async def resume(self, action: WorkingMemoryItem) -> AsyncGenerator[AgentResponse]:
        """Continue with an action that was begun when the run was interrupted."""
        tool = action.metadata.get("tool")
        if placeholders(json.dumps(action.metadata, ensure_ascii=False)):
            observation = Observation(
                f"The run was interrupted while {tool} was running. Its arguments had personal "
                f"data, which is not stored, so it was not run again: use it anew if need be.",
                "interrupted",
            )
        elif "arguments" not in action.metadata:
            observation = Observation(
                f"The run was interrupted while {tool} was running. Its arguments are not stored, "
                f"since something was forgotten before, so it was not run again.",
                "interrupted",
            )
        elif isinstance(tool, str) and self._toolbox.is_idempotent(tool):
            observation = await self._use(action)
        else:
            observation = Observation(
                f"The run was interrupted while {tool} was running. Whether it took effect is "
                f"unknown; it was not run again.",
                "interrupted",
            )
        for reply in await self._observe(action, observation):
            yield reply

    async def _use(self, action: WorkingMemoryItem) -> Observation:
        tool, arguments = action.metadata.get("tool"), action.metadata.get("arguments")
        with self._timings.part("tools"):
            return await self._toolbox.use(
                tool if isinstance(tool, str) else "",
                arguments if isinstance(arguments, dict) else {},
                self._offered,
                replace(
                    self._context,
                    said_at=self._trace.asked_at + action.step * _TICK,
                    step=action.step,
                ),
            )

    async def _observe(
        self, action: WorkingMemoryItem, observation: Observation
    ) -> Sequence[AgentResponse]:
        with self._timings.part("working-memory"):
            await self._trace.end_action(action, observation)
        return list(
            self._replies.whole(
                action.step, "observation", observation.text or "(nothing)", pieces=False
            )
        )


def _bounded(arguments: Metadata) -> Metadata:
    """The arguments, or the beginning of them where they are too long to be recorded."""
    text = json.dumps(arguments, ensure_ascii=False)
    return arguments if len(text) <= MAX_ARGUMENTS else {MALFORMED_ARGUMENTS: text[:1_000]}
