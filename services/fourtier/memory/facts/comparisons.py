"""The facts that wait for the model that detects contradictions, user by user."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from fourtier.memory.facts.store import FactStore
from fourtier.runtime.rpc.retry import wants_traceback
from fourtier.runtime.telemetry import CountedMetric, step
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

POSTPONED = CountedMetric(
    "fourtier.facts.comparisons_postponed", "facts that no model could compare yet"
)
#: Facts in one comparison, and those that are read from the graph at once.
_AT_ONCE, _MAX_READ = 16, 1_000
#: Seconds until the model is asked again after it failed.
_PAUSE = 60.0


class Comparisons:
    """Compares stored facts beside the writes.

    What is stored is marked there, so that nothing is left out after a crash. Users take turns.
    """

    def __init__(self, store: FactStore) -> None:
        self._store = store
        self._waiting: dict[Scope, dict[str, None]] = {}
        self._more = asyncio.Event()

    def add(self, facts: Mapping[str, Scope]) -> None:
        """Have facts compared soon."""
        for name, scope in facts.items():
            self._waiting.setdefault(scope, {})[name] = None
        if facts:
            self._more.set()

    async def find_waiting(self) -> None:
        """Take up what another process, or an earlier start, has left."""
        self.add(await self._store.uncompared(_MAX_READ))

    async def run(self) -> None:
        """Compare what waits, for ever."""
        while True:
            await self._more.wait()
            if facts := self._next():
                await self._compare(facts)
            else:
                self._more.clear()

    async def _compare(self, facts: Mapping[str, Scope]) -> None:
        try:
            with step("compare facts"):
                await self._store.compare(facts)
        except Exception as error:  # whatever it is, the service still stores facts
            POSTPONED.add(len(facts), {})
            log.warning(
                "Facts are stored and not compared: %s. Tried again in %g s.",
                error,
                _PAUSE,
                exc_info=error if wants_traceback(error) else None,
            )
            await asyncio.sleep(_PAUSE)
        else:
            self._done(facts)

    def _next(self) -> dict[str, Scope]:
        """Some facts of the user whose turn it is."""
        for scope, names in self._waiting.items():
            return {name: scope for name, _ in zip(names, range(_AT_ONCE), strict=False)}
        return {}

    def _done(self, facts: Mapping[str, Scope]) -> None:
        (scope,) = {*facts.values()}
        names = self._waiting.pop(scope)
        if left := {name: None for name in names if name not in facts}:
            self._waiting[scope] = left  # behind the other users


@asynccontextmanager
async def comparisons(store: FactStore) -> AsyncGenerator[Comparisons]:
    """Compare facts while the context is open, beginning with those of an earlier start."""
    comparing = Comparisons(store)
    await comparing.find_waiting()
    task = asyncio.create_task(comparing.run(), name="comparisons of facts")
    try:
        yield comparing
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
