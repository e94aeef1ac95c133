"""The episodes of scopes in a vector store: the vector of the goal, and the words of all of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from fourtier.engines.timestamps import as_text
from fourtier.memory.episodes.records import (
    RESULT,
    ended_at,
    episode_id,
    from_hit,
    has_expired,
    said_at,
    searchable_text,
    to_episode,
    to_payload,
    was_sent_at,
)
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.service.stores.schemas import Collection, Fields
from fourtier.runtime.service.stores.vectors import Hit, Point, VectorStore
from fourtier.schema.episodes import Episode, StoreEpisodeRequest
from fourtier.schema.message import Scope

COLLECTION = Collection("episodes", Fields(keywords=(RESULT,)))
_PAGE = 1_000


class Sent(NamedTuple):
    """A request, and when it was sent."""

    request: StoreEpisodeRequest
    at: datetime


class EpisodeStore:
    """Reads and writes episodes; those older than `ttl` are not read any more.

    Args:
        ttl: how long after its end an episode is stored; None is for ever.
    """

    def __init__(self, vectors: VectorStore, embed: Embed, *, ttl: timedelta | None) -> None:
        self._vectors = vectors
        self._embed = embed
        self._ttl = ttl

    async def store(self, scope: Scope, sent: Sequence[Sent]) -> list[tuple[str, bool]]:
        """Write episodes over what was there under their ids; each id, and whether it is new.

        What was sent before the request that is stored is not written over it, whenever it comes.
        """
        requests = [each.request for each in sent]
        goals = list(dict.fromkeys(request.goal for request in requests))
        vectors = dict(zip(goals, await self._embed(goals), strict=True))
        hits = await self._vectors.get(scope, [episode_id(request) for request in requests])
        known = {hit.id: from_hit(hit) for hit in hits}
        latest = {hit.id: was_sent_at(hit) for hit in hits}
        stored: list[tuple[str, bool]] = []
        points: dict[str, Point] = {}
        for request, at in sent:
            identity, sent_at = episode_id(request), as_text(at)
            stored.append((identity, identity not in known))
            if sent_at < latest.get(identity, ""):
                continue
            episode = to_episode(request, known.get(identity), at)
            points[identity] = Point.of(
                identity,
                vectors[episode.goal],
                searchable_text(episode),
                to_payload(episode, said_at(request, at), sent_at),
            )
            known[identity], latest[identity] = episode, sent_at
        await self._vectors.upsert(scope, list(points.values()))
        return stored

    async def get(self, scope: Scope, identity: str) -> Episode | None:
        """One episode, or None."""
        hits = await self._vectors.get(scope, [identity])
        return next((from_hit(hit) for hit in hits if not has_expired(hit, self._ttl)), None)

    async def page(self, scope: Scope, limit: int, offset: int) -> tuple[list[Episode], int]:
        """Episodes newest first, and how many there are in all."""
        living = [hit for hit in await self.all(scope) if not has_expired(hit, self._ttl)]
        living.sort(key=lambda hit: (ended_at(hit), hit.id), reverse=True)
        return [from_hit(hit) for hit in living[offset : offset + limit]], len(living)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete episodes; returns how many there were."""
        return await self._vectors.delete(scope, ids)

    async def delete_scope(self, scope: Scope) -> int:
        """Delete all episodes of a scope; returns how many there were."""
        return await self._vectors.delete_scope(scope)

    async def count(self, scope: Scope) -> int:
        """How many are stored, expired ones included."""
        return await self._vectors.count(scope)

    async def all(self, scope: Scope) -> list[Hit]:
        """All episodes of a scope, expired ones included."""
        found: list[Hit] = []
        after: str | None = None
        while page := await self._vectors.scroll(scope, _PAGE, after):
            found += page
            after = page[-1].id
        return found

    async def stored_ids(self, scope: Scope, ids: Sequence[str]) -> list[str]:
        """Those of the ids that are stored."""
        return [hit.id for hit in await self._vectors.get(scope, ids)]
