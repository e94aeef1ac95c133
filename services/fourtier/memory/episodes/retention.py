"""Which episodes are deleted when a scope has more than it may, or they have expired.

Usefulness is the number of times an episode was retrieved, plus one, halved for every half-life
that has passed since it ended or was last retrieved, whichever is later. So a new episode is worth
as much as one that was retrieved three times and then rested for two half-lives. The least useful
ones go first. Nothing goes as long as a scope has no more than it may.
"""

import math
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import UTC, datetime, timedelta

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.episodes.forgetting import Episodes
from fourtier.memory.episodes.records import ended_at, episode_id
from fourtier.memory.episodes.store import EpisodeStore, Sent
from fourtier.memory.episodes.usage_counts import Usage, UsageCounts
from fourtier.memory.retention.policy import Retention
from fourtier.memory.retention.storing import Candidate, store_retained
from fourtier.runtime.service.stores.vectors import Hit
from fourtier.schema.episodes import StoreEpisodeResponse
from fourtier.schema.message import Scope


class EpisodeMemories:
    """The episodes of all scopes, as the retention policy sees them.

    Args:
        half_life: in which an episode that is not retrieved loses half of its usefulness; None
            where the oldest go first, useful or not.
    """

    def __init__(
        self, store: EpisodeStore, usage: UsageCounts, half_life: timedelta | None
    ) -> None:
        self._store = store
        self._usage = usage
        self._half_life = half_life

    async def count(self, scope: Scope) -> int:
        """How many episodes a scope has."""
        return await self._store.count(scope)

    async def known(self, sent: Sequence[Sent]) -> Collection[str]:
        """The ids of those that are stored."""
        known: set[str] = set()
        for scope in {each.request.scope for each in sent}:
            ids = [episode_id(each.request) for each in sent if each.request.scope == scope]
            known.update(await self._store.stored_ids(scope, ids))
        return known

    async def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:  # noqa: ARG002
        """All scopes: which of them have old episodes only a look into each can tell."""
        for scope in await self._usage.scopes():
            yield scope

    async def delete_expired(self, scope: Scope, before: str) -> int:
        """Delete the episodes of a scope that ended until then."""
        hits = await self._store.all(scope)
        return await self._delete(scope, [hit.id for hit in hits if ended_at(hit) <= before])

    async def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        """Scopes with more episodes than that."""
        for scope in await self._usage.scopes():
            if await self._store.count(scope) > maximum:
                yield scope

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        """Delete the least useful ones, or the oldest."""
        episodes = await self._store.all(scope)
        worth = await self._worth(scope, episodes)
        gone = sorted(worth, key=lambda each: (worth[each], each))[:number]
        await self._delete(scope, gone)
        return gone

    async def _worth(self, scope: Scope, episodes: Sequence[Hit]) -> dict[str, float]:
        now = datetime.now(UTC)
        if self._half_life is None:
            return {hit.id: parse_time(ended_at(hit)).timestamp() for hit in episodes}
        uses = await self._usage.of(scope, [hit.id for hit in episodes])
        return {
            hit.id: usefulness(hit, uses.get(hit.id, Usage()), now, self._half_life)
            for hit in episodes
        }

    async def _delete(self, scope: Scope, ids: list[str]) -> int:
        if not ids:
            return 0
        gone = await self._store.delete(scope, ids)
        await self._usage.forget(scope, ids)
        return gone


class RetainedEpisodes:
    """Stores episodes as the flow's retention wants it, and sweeps."""

    def __init__(
        self,
        store: EpisodeStore,
        usage: UsageCounts,
        memories: EpisodeMemories,
        retention: Retention,
        episodes: Episodes,
    ) -> None:
        self._store = store
        self._usage = usage
        self._memories = memories
        self._retention = retention
        self._episodes = episodes

    async def store(self, sent: Sequence[Sent]) -> list[StoreEpisodeResponse]:
        """Write episodes as `Episodes.store`, without expired ones; then make room for them.

        Raises:
            QuotaExceededError: a scope is full, and nothing is evicted.
        """
        answers: dict[int, StoreEpisodeResponse] = {}

        async def store(indices: Sequence[int]) -> list[bool]:
            stored = await self._episodes.store([sent[index] for index in indices])
            answers.update(zip(indices, stored, strict=True))
            return [each.created for each in stored]

        candidates = [
            Candidate(each.request.scope, episode_id(each.request), _ended_at(each))
            for each in sent
        ]
        reasons = await store_retained(
            self._retention, candidates, known=lambda: self._memories.known(sent), store=store
        )
        return [
            StoreEpisodeResponse(episode_id=each.id, created=False, not_stored=reason)
            if reason
            else answers[index]
            for index, (each, reason) in enumerate(zip(candidates, reasons, strict=True))
        ]

    async def sweep(self) -> None:
        """Go through all scopes once. Where it is interrupted, the next sweep does the rest."""
        await self.write_usage()
        await self._retention.sweep()
        for scope in await self._usage.scopes():
            if not await self._store.count(scope):
                await self._usage.forget_scope(scope)

    async def write_usage(self) -> None:
        """Write the counts that were gathered, of episodes that are still there."""
        for scope, ids in self._usage.fresh().items():
            episodes = [each for each in ids if await self._store.get(scope, each) is not None]
            await self._usage.write(scope, episodes)


def usefulness(hit: Hit, use: Usage, now: datetime, half_life: timedelta) -> float:
    """The binary logarithm of an episode's usefulness: it cannot underflow, and orders alike."""
    rested = now - parse_time(max(ended_at(hit), use.last))
    return math.log2(1 + use.times) - rested / half_life


def _ended_at(sent: Sent) -> str:
    return as_text(sent.request.timestamp or sent.at)
