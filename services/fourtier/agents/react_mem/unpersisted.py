"""Answers that `working-memory` could not take: in this process until it can.

A request is repeated when its caller gets no answer, as after an outage of the bus. The run must
not be made a second time then: it could end with another answer than the one that was given and
published.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

import stamina

from fourtier.runtime.errors import FourtierError
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import WorkingMemoryItem

log = logging.getLogger(__name__)

#: Some 20 minutes.
_ATTEMPTS = 120
#: Answers in this process; when there are more, the oldest is dropped.
_MAX_RUNS = 1_000


class RunKey(NamedTuple):
    """A run; its id may be the client's, and two users may give the same."""

    scope: Scope
    run_id: str


@dataclass(frozen=True, slots=True)
class EndedRun:
    """What a repeated request needs of a run that has ended."""

    answer: str
    question_id: str
    items: tuple[WorkingMemoryItem, ...]


class UnpersistedAnswers:
    """The runs of this replica that ended while working memory was unavailable."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._runs: OrderedDict[RunKey, EndedRun] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, key: RunKey) -> EndedRun | None:
        """The run, if its answer is only in this process."""
        return self._runs.get(key)

    def add(self, key: RunKey, run: EndedRun, persist: Callable[[], Awaitable[object]]) -> None:
        """Remember a run until `persist` has stored it where all replicas find it."""
        self._runs[key] = run
        if len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)
        task = self._group.create_task(self._persist(key, persist), name=f"persist {key.run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _persist(self, key: RunKey, persist: Callable[[], Awaitable[object]]) -> None:
        try:
            async for attempt in stamina.retry_context(
                on=FourtierError,
                attempts=_ATTEMPTS,
                timeout=None,
                wait_initial=0.5,
                wait_max=10.0,
                wait_jitter=0.5,
            ):
                with attempt:
                    if key in self._runs:
                        await persist()
        except FourtierError as error:
            log.warning("The answer of %s is only in this replica: %s", key.run_id, error)
        else:
            self._runs.pop(key, None)

    def stop(self) -> None:
        """Stop persisting."""
        for task in self._tasks:
            task.cancel()


@asynccontextmanager
async def unpersisted_answers() -> AsyncGenerator[UnpersistedAnswers]:
    """Open; what is not persisted when the context ends is lost, as when the process is killed."""
    async with asyncio.TaskGroup() as group:
        answers = UnpersistedAnswers(group)
        try:
            yield answers
        finally:
            answers.stop()
