"""Condense steps by a model, in the background.

A model takes seconds, and the run waits for the answer to its append. So the append is answered
with what the rule made, and the model's text replaces it when it is there, for the next prompt
and all that follow. Where the model is late, unavailable or answers nothing, the rule's text stays.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.memory.working_memory.compression import Condensed, Plan
from fourtier.memory.working_memory.excerpt import fit
from fourtier.memory.working_memory.records import RunKey
from fourtier.memory.working_memory.rule_compression import condense
from fourtier.memory.working_memory.store import TraceStore
from fourtier.models.text.quoting import quoted
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest
from fourtier.schema.working_memory import WorkingMemoryItem

log = logging.getLogger(__name__)

#: What of the steps goes into the prompt at most: their results may be longer than any window.
_STEPS_TOKENS = 6_000


@dataclass(frozen=True, slots=True)
class Work:
    """What a model is to condense.

    Attributes:
        before: the text that stood for the oldest steps until now.
        items: of the steps that it does not tell of yet.
    """

    before: str
    items: Sequence[WorkingMemoryItem]
    plan: Plan


class ModelCondenser:
    """Asks `completion` for better texts, as `prompt` says; one at a time for each run."""

    def __init__(self, caller: Caller, store: TraceStore, seconds: float, prompt: str) -> None:
        self._caller = caller
        self._store = store
        self._seconds = seconds
        self._tasks: dict[RunKey, asyncio.Task[None]] = {}
        self._prompt = prompt

    def start(self, key: RunKey, work: Work) -> None:
        """Begin to condense; what was begun for fewer steps of the run is cancelled."""
        if (running := self._tasks.get(key)) is not None:
            running.cancel()
        task = asyncio.create_task(self._improve(key, work), name=f"condense {key.run_id}")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._done(key, done))

    def _done(self, key: RunKey, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Condensing %s failed.", key.run_id, exc_info=error)

    async def _improve(self, key: RunKey, work: Work) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                text = await self._ask(work)
        except (FourtierError, BusError, TimeoutError) as error:
            log.warning(
                "The steps of %s stay condensed by rule: %s",
                key.run_id,
                str(error) or f"the model took longer than {self._seconds:g} s",
            )
            return
        if not text:
            log.warning(
                "The steps of %s stay condensed by rule: the model answered nothing", key.run_id
            )
            return
        await self._store.improve(key, Condensed(fit(text, work.plan.room), work.plan.through))

    async def _ask(self, work: Work) -> str:
        steps = await asyncio.to_thread(condense, work.items, _STEPS_TOKENS)
        parts = [
            f"Notes so far:\n{quoted('steps', [work.before])}" if work.before else "",
            f"Steps since then:\n{quoted('steps', [steps])}",
        ]
        request = CompleteRequest(
            messages=(
                ChatMessage(
                    role="system", content=self._prompt.replace("{tokens}", str(work.plan.room))
                ),
                ChatMessage(role="user", content="\n\n".join(filter(None, parts))),
            ),
            streaming=False,
            max_tokens=2 * work.plan.room,  # room for a model that counts otherwise than we do
            temperature=0,
        )
        pieces = [
            piece.content
            async for piece in self._caller.stream(COMPLETE, request)
            if piece.type == "answer"
        ]
        return "".join(pieces).strip()

    async def close(self) -> None:
        """Cancel what is not done; the rule's texts stay."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def open_model_condenser(
    caller: Caller, store: TraceStore, seconds: float, prompt: str
) -> AsyncGenerator[ModelCondenser]:
    """A condenser that leaves no task behind."""
    condenser = ModelCondenser(caller, store, seconds, prompt)
    try:
        yield condenser
    finally:
        await condenser.close()
