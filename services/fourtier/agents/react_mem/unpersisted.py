"""Answers that `working-memory` could not take: kept in this process until it can.

A request is asked again when its caller hears nothing, as after an outage of the bus. The run must
not be made a second time then, with another answer than the one that was given and told to memory.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.retry import Retry
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import WorkingMemoryItem

log = logging.getLogger(__name__)

_RETRY = Retry(attempts=120, first=0.5, cap=10.0)
#: Runs whose answers are remembered at most; the oldest go first.
_MOST = 1_000


class RunKey(NamedTuple):
    """A run; its id may be the client's, and two users may give the same."""

    scope: Scope
    run_id: str


@dataclass(frozen=True, slots=True)
class EndedRun:
    """What a repeated request needs of a run that has ended."""

    answer: str
    items: tuple[WorkingMemoryItem, ...]


class UnpersistedAnswers:
    """The runs of this replica that ended without working memory."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._runs: OrderedDict[RunKey, EndedRun] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, key: RunKey) -> EndedRun | None:
        """The run, if its answer is only here."""
        return self._runs.get(key)

    def keep(self, key: RunKey, run: EndedRun, write: Callable[[], Awaitable[object]]) -> None:
        """Remember a run until `write` has put it where all replicas find it."""
        self._runs[key] = run
        if len(self._runs) > _MOST:
            self._runs.popitem(last=False)
        task = self._group.create_task(self._write(key, write), name=f"keep {key.run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write(self, key: RunKey, write: Callable[[], Awaitable[object]]) -> None:
        attempt = 1
        while key in self._runs:
            try:
                await write()
            except (FourtierError, BusError) as error:
                pause = _RETRY.pause(attempt, error)
                if pause is None:
                    log.warning(
                        "The answer of %s is kept by this replica only: %s", key.run_id, error
                    )
                    return
                attempt += 1
                await asyncio.sleep(pause)
            else:
                self._runs.pop(key, None)

    def stop(self) -> None:
        """Give up what is not written yet."""
        for task in self._tasks:
            task.cancel()


@asynccontextmanager
async def unpersisted_answers() -> AsyncGenerator[UnpersistedAnswers]:
    """Open; what could not be written by the end is lost, as with a kill."""
    async with asyncio.TaskGroup() as group:
        answers = UnpersistedAnswers(group)
        try:
            yield answers
        finally:
            answers.stop()
