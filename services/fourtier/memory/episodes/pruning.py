"""Which episodes are deleted, when a scope has more than it may or they have expired.

Usefulness is the number of times an episode was retrieved, plus one, halved for every half-life
that has passed since it ended or was last retrieved, whichever is later. So a new episode is worth
as much as one that was retrieved three times and then rested for two half-lives. The least useful
ones go first. Nothing goes as long as a scope has no more than it may.
"""

import logging
import math
from datetime import UTC, datetime, timedelta

from fourtier.engines.timestamps import as_moment
from fourtier.engines.vectors.protocol import Hit
from fourtier.memory.episodes.records import ended_at
from fourtier.memory.episodes.store import EpisodeStore
from fourtier.memory.episodes.usage_counts import Usage, UsageCounts
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)


class Pruning:
    """Deletes what is expired and what is too much.

    Args:
        max_per_scope: how many episodes a scope may have.
        half_life: in which an episode that is not retrieved loses half of its usefulness.
    """

    def __init__(
        self, store: EpisodeStore, usage: UsageCounts, *, max_per_scope: int, half_life: timedelta
    ) -> None:
        self._store = store
        self._usage = usage
        self._max_per_scope = max_per_scope
        self._half_life = half_life

    async def sweep(self) -> None:
        """Go through all scopes once. Where it is interrupted, the next sweep does the rest."""
        await self.write_usage()
        for scope in await self._usage.scopes():
            gone = await self._prune(scope)
            if gone:
                log.info(
                    "%d episodes of a scope are pruned.",
                    gone,
                    extra={"user": scope.user, "collection": scope.collection},
                )

    async def write_usage(self) -> None:
        """Write the counts that were gathered, of episodes that are still there."""
        for scope, ids in self._usage.fresh().items():
            episodes = [each for each in ids if await self._store.get(scope, each) is not None]
            await self._usage.write(scope, episodes)

    async def _prune(self, scope: Scope) -> int:
        gone = await self._drop(scope, await self._store.expired(scope))
        stored = await self._store.count(scope)
        if stored > self._max_per_scope:
            gone += await self._drop(
                scope, await self._least_useful(scope, stored - self._max_per_scope)
            )
        elif stored == 0:
            await self._usage.forget_scope(scope)
        return gone

    async def _drop(self, scope: Scope, ids: list[str]) -> int:
        if not ids:
            return 0
        gone = await self._store.delete(scope, ids)
        await self._usage.forget(scope, ids)
        return gone

    async def _least_useful(self, scope: Scope, number: int) -> list[str]:
        episodes = await self._store.all(scope)
        uses = await self._usage.of(scope, [hit.id for hit in episodes])
        now = datetime.now(UTC)
        worth = {
            hit.id: usefulness(hit, uses.get(hit.id, Usage()), now, self._half_life)
            for hit in episodes
        }
        return sorted(worth, key=lambda each: (worth[each], each))[:number]


def usefulness(hit: Hit, use: Usage, now: datetime, half_life: timedelta) -> float:
    """The binary logarithm of an episode's usefulness: it cannot underflow, and orders alike."""
    rested = now - as_moment(max(ended_at(hit), use.last))
    return math.log2(1 + use.times) - rested / half_life
