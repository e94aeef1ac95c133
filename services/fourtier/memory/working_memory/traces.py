"""What is done with runs: append, read, discard, expire."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.memory.working_memory.compression import Condensed, by_rule, in_order, resolved, shown
from fourtier.memory.working_memory.model_compression import ModelCondenser, Work
from fourtier.memory.working_memory.records import RunKey, RunRecord
from fourtier.memory.working_memory.store import TraceStore
from fourtier.schema.working_memory import (
    AppendWorkingMemoryRequest,
    GetWorkingMemoryResponse,
    Trace,
)

log = logging.getLogger(__name__)


class Traces:
    """The runs of all scopes. Writers wait for each other, since they read before they write.

    Args:
        model: condenses where a model is named; None to do it by rule alone.
    """

    def __init__(self, store: TraceStore, model: ModelCondenser | None) -> None:
        self._store = store
        self._model = model

    async def append(self, requests: Sequence[AppendWorkingMemoryRequest]) -> list[Trace]:
        """Add items to runs; each trace as the next prompt is to show it, after all is on disk."""
        async with self._store.writing:
            traces, work = await retry_on_conflict(lambda: self._append_all(requests))
        if self._model is not None:
            for key, steps in work.items():
                self._model.start(key, steps)
        return traces

    async def _append_all(
        self, requests: Sequence[AppendWorkingMemoryRequest]
    ) -> tuple[list[Trace], dict[RunKey, Work]]:
        """The traces, and what a model is to condense of them.

        Raises:
            ConflictError: another replica has written to one of the runs meanwhile.
        """
        work: dict[RunKey, Work] = {}
        runs = await self._store.load({RunKey.of(request) for request in requests})
        traces = [
            await self._append(runs[RunKey.of(request)], request, work) for request in requests
        ]
        await self._store.save(runs.values())
        return traces, work

    async def _append(
        self, run: RunRecord, request: AppendWorkingMemoryRequest, work: dict[RunKey, Work]
    ) -> Trace:
        run.question_id = run.question_id or request.question_id
        run.add(request.items)
        items = in_order(run.items.values())
        condensed, plan = resolved(items, run.condensed, request.threshold, request.keep_last)
        if plan is not None:
            new = [item for item in items if condensed.through < item.step <= plan.through]
            if new:
                work[run.key] = Work(condensed.text, new, plan)
            condensed = await asyncio.to_thread(by_rule, items, plan)
        run.show(condensed)
        return shown(items, condensed)

    async def get(self, key: RunKey, *, full: bool) -> GetWorkingMemoryResponse:
        """A run's trace, and its answer if it has ended."""
        run = (await self._store.load([key]))[key]
        trace = shown(in_order(run.items.values()), Condensed() if full else run.condensed)
        return GetWorkingMemoryResponse(trace=trace, answer=run.answer, question_id=run.question_id)

    async def discard(self, key: RunKey) -> int:
        """Drop a run's items and keep its answer; how many items there were."""

        async def discard() -> int:
            return await self._store.discard((await self._store.load([key]))[key])

        async with self._store.writing:
            return await retry_on_conflict(discard)

    async def number(self) -> int:
        """How many runs of agents there are in all."""
        return await self._store.number()

    async def expire(self, answers_after: timedelta, traces_after: timedelta) -> None:
        """Delete answers of discarded runs, and traces of runs that nobody goes on with."""
        now = datetime.now(UTC)
        async with self._store.writing:
            expired = await self._store.expire(now - answers_after, now - traces_after)
        if expired:
            log.info("%d expired runs are deleted.", expired)
