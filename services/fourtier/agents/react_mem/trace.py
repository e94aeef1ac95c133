"""A run's working memory: every step is on disk before the run continues."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from pydantic import TypeAdapter, ValidationError

from fourtier.agents.react_mem.metrics import TIERS_LEFT_OUT
from fourtier.agents.react_mem.observation import Observation
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.unpersisted import EndedRun, RunKey, UnpersistedAnswers
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.repeating import ask_until_answered
from fourtier.schema.agent import AgentStep, StepStatus
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

#: In the metadata of each item: when the run was asked for.
_ASKED_AT = "asked_at"

#: In the metadata of an observation, see there.
_FOR_USER, _FORGOT = "for_user", "forgot"

_NOT_STORED = "(not stored: something was forgotten)"

_STATUS: TypeAdapter[StepStatus] = TypeAdapter(StepStatus)


@dataclass
class RunTrace:
    """What a run has done, in this process and in `working-memory`.

    Attributes:
        shown: the trace for the next prompt, condensed by the service where it has grown.
        items: all items word for word.
        answer: set when the run had ended before, in another delivery of its request.
        asked_at: when the run was asked for: its first request, where that was repeated.
        question_id: names the question of the request.
        is_of_another: the id of the run belongs to another question of its user.
        opted_out: the user is not remembered, so that nothing of the run may stay.
        unpersisted: why the steps are only in this process; empty while working memory has them.
    """

    run_id: str
    scope: Scope
    caller: Caller
    parameters: AgentParameters
    asked_at: datetime
    question_id: str
    shown: Trace = field(default_factory=Trace)
    items: list[WorkingMemoryItem] = field(default_factory=list)
    answer: str | None = None
    is_of_another: bool = False
    opted_out: bool = False
    unpersisted: str = ""

    async def load(self, answers: UnpersistedAnswers, *, is_retry: bool) -> None:
        """Read what an earlier delivery of the same request has done.

        Args:
            answers: those of this replica that working memory does not have.
            is_retry: whether the caller has repeated the request; then working memory is waited for
                longer.
        """
        if (ended := answers.get(self._key)) is not None:
            self.is_of_another = ended.question_id != self.question_id
            self.answer = ended.answer
            self._take_up(ended.items)
            return
        seconds = self.parameters.tier_seconds
        try:
            async with asyncio.timeout(max(seconds, _RETRY_SECONDS) if is_retry else seconds):
                found = await self._read(is_retry=is_retry)
        except (TimeoutError, FourtierError) as error:
            self._continue_unpersisted(error)
            return
        self.is_of_another = found.question_id not in {"", self.question_id}
        if self.is_of_another:
            return
        self.answer, self.opted_out = found.answer, found.opted_out
        self._take_up(found.trace.items)
        if self.items and self.answer is None:
            await self._append([])  # reads the trace back as the next prompt shows it

    def _take_up(self, items: Sequence[WorkingMemoryItem]) -> None:
        """Go on from what an earlier delivery has done, at the time at which that was asked for."""
        self.items = list(items)
        times = [item.metadata[_ASKED_AT] for item in items if _ASKED_AT in item.metadata]
        if times:
            self.asked_at = datetime.fromisoformat(str(times[0]))

    @property
    def answered_at(self) -> datetime | None:
        """When the run came to its answer, if that is known here."""
        last = self.items[-1] if self.items else None
        return last.timestamp if last is not None and last.type == "answer" else None

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
    def for_user(self) -> str:
        """What is to stand under the answer word for word.

        Of several lists of what would be forgotten the latest one waits for a yes. A tool that
        failed and then succeeded with the same arguments has not failed.
        """
        texts: dict[str, str] = {}
        actions = {item.step: item.content for item in self.items if item.type == "action"}
        for item in self.items:
            if item.type == "observation":
                failed = item.metadata.get("status") == "failed"
                said = str(item.metadata.get(_FOR_USER, ""))
                what = actions.get(item.step, "") if failed or not said else ""
                texts[what] = said
        return "\n\n".join(filter(None, texts.values()))

    @property
    def forgotten(self) -> str:
        """What the run has forgotten, in numbers; empty if it has not."""
        return "\n".join(item.content for item in self.items if item.metadata.get(_FORGOT))

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

    async def end_action(self, action: WorkingMemoryItem, observation: Observation) -> None:
        """Record the result of an action."""
        metadata: Metadata = {
            "tool": action.metadata.get("tool", ""),
            "status": observation.status,
        }
        if observation.for_user:
            metadata[_FOR_USER] = observation.for_user
        if observation.forgot:
            metadata[_FORGOT] = True
        await self._append([self._item(action.step, "observation", observation.text, metadata)])

    async def end(self, step: int, thought: str, answer: str) -> None:
        """Record the final answer, so that a repeated request gets the same."""
        self.answer = answer
        await self._append([*self._thoughts(step, thought), self._item(step, "answer", answer, {})])

    def persist_later(self, answers: UnpersistedAnswers) -> None:
        """Keep an answer that working memory could not take, until it can."""
        if self.unpersisted and self.answer is not None:
            run = EndedRun(self.answer, self.question_id, tuple(self.items))
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
        """The run as steps of thought, action and observation, as far as they may be stored."""
        by_step: dict[int, dict[str, WorkingMemoryItem]] = {}
        for item in self._to_store(self.items):
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
                "metadata": {**metadata, _ASKED_AT: self.asked_at.isoformat()},
            }
        )

    async def _read(self, *, is_retry: bool) -> GetWorkingMemoryResponse:
        """Read the trace; for a repeated request again and again until there is an answer."""
        question = GetWorkingMemoryRequest(
            run_id=self.run_id, user=self.scope.user, collection=self.scope.collection, full=True
        )
        if not is_retry:
            read = self.parameters.with_tier_deadline(GET_WORKING_MEMORY)
            return await self.caller.call(read, question)
        # A query is repeated after half of its deadline, so a retry has the shorter one.
        return await ask_until_answered(self.caller, GET_WORKING_MEMORY, question, pause=_PAUSE)

    async def _append(self, items: list[WorkingMemoryItem]) -> None:
        self.items += items
        if not self.unpersisted:
            # Of what the run has said before it forgot something no words stay.
            changed = self.items if self.forgotten else items
            try:
                async with asyncio.timeout(self.parameters.tier_seconds):
                    self.shown = self._word_for_word(await self._persist(changed))
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
                question_id=self.question_id,
                items=self._to_store(items),
                threshold=self.parameters.condense_from,
                keep_last=self.parameters.working_memory_keep,
            ),
        )
        return appended.trace

    def _to_store(self, items: Sequence[WorkingMemoryItem]) -> tuple[WorkingMemoryItem, ...]:
        """The items; in a run that has forgotten something without the words in them."""
        if not (forgotten := self.forgotten):
            return tuple(items)
        return tuple(
            item if item.metadata.get(_FORGOT) else _wordless(item, forgotten) for item in items
        )

    def _word_for_word(self, trace: Trace) -> Trace:
        """The trace with the items as they are in this process: on disk they may be redacted."""
        own = {item.id: item for item in self.items}
        return trace.model_copy(
            update={"items": tuple(own.get(item.id, item) for item in trace.items)}
        )

    def _continue_unpersisted(self, error: Exception) -> None:
        """Continue with what is in this process; persisting is retried after the run has ended."""
        self.unpersisted = (
            str(error) or f"no answer within {self.parameters.tier_seconds:g} seconds"
        )
        TIERS_LEFT_OUT.add(1, {"fourtier.tier": "working-memory"})
        log.warning(
            "The run %s continues without working memory: %s", self.run_id, self.unpersisted
        )


def _wordless(item: WorkingMemoryItem, forgotten: str) -> WorkingMemoryItem:
    """An item of a run that has forgotten something: its words may tell what that was."""
    if item.type == "answer":
        return item.model_copy(update={"content": forgotten})
    retained = {
        name: item.metadata[name] for name in ("tool", "status", _ASKED_AT) if name in item.metadata
    }
    return item.model_copy(update={"content": _NOT_STORED, "metadata": retained})


def _step(kinds: dict[str, WorkingMemoryItem]) -> AgentStep:
    action, observation = kinds["action"], kinds.get("observation")
    tool, arguments = action.metadata.get("tool"), action.metadata.get("arguments")
    return AgentStep(
        thought=kinds["thought"].content if "thought" in kinds else "",
        action=tool if isinstance(tool, str) else "",
        arguments=arguments if isinstance(arguments, dict) else {},
        observation=observation.content if observation is not None else "",
        status=_status(observation),
    )


def _status(observation: WorkingMemoryItem | None) -> StepStatus:
    """How the action ended; one without an observation was interrupted by the run's failure."""
    if observation is None:
        return "interrupted"
    try:
        return _STATUS.validate_python(observation.metadata.get("status"))
    except ValidationError:  # recorded by a version that did not say it
        return "unknown"
