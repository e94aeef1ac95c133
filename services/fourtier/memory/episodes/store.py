"""The episodes of scopes in a vector store, each under the vector of its goal."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from fourtier.engines.timestamps import as_text
from fourtier.engines.vectors.protocol import Hit, Point, VectorStore
from fourtier.engines.vectors.query import DenseLeg, Equals
from fourtier.memory.episodes.records import (
    RESULT,
    ended_at,
    episode_id,
    from_hit,
    said_at,
    to_episode,
    to_payload,
)
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.service.stores import Collection, Fields
from fourtier.schema.episodes import Episode, Result, StoreEpisodeRequest
from fourtier.schema.message import Scope, Vector

COLLECTION = Collection("episodes", Fields(keywords=(RESULT,)))
_PAGE = 1_000
#: Characters of a goal that are embedded for a search; models read less.
_MAX_QUERY = 8_000


class Sent(NamedTuple):
    """A request, and when it was sent."""

    request: StoreEpisodeRequest
    at: datetime


class EpisodeStore:
    """Reads and writes episodes; those older than `ttl` are not found any more.

    Args:
        ttl: how long after its end an episode is stored; None is for ever.
        min_similarity: cosine below which a goal is another matter and not found.
    """

    def __init__(
        self,
        vectors: VectorStore,
        embed: Embed,
        *,
        ttl: timedelta | None,
        min_similarity: float,
    ) -> None:
        self._vectors = vectors
        self._embed = embed
        self._ttl = ttl
        self._min_similarity = min_similarity

    async def store(self, scope: Scope, sent: Sequence[Sent]) -> list[tuple[str, bool]]:
        """Write episodes over what was there under their ids; each id, and whether it is new."""
        requests = [each.request for each in sent]
        goals = list(dict.fromkeys(request.goal for request in requests))
        vectors = dict(zip(goals, await self._embed(goals), strict=True))
        hits = await self._vectors.get(scope, [episode_id(request) for request in requests])
        known = {hit.id: from_hit(hit) for hit in hits}
        stored: list[tuple[str, bool]] = []
        points: dict[str, Point] = {}
        for request, sent_at in sent:
            identity = episode_id(request)
            episode = to_episode(request, known.get(identity), sent_at)
            payload = to_payload(episode, said_at(request, sent_at))
            points[identity] = Point.of(identity, vectors[episode.goal], episode.goal, payload)
            stored.append((identity, identity not in known))
            known[identity] = episode
        await self._vectors.upsert(scope, list(points.values()))
        return stored

    async def search(
        self, scope: Scope, goal: str, vector: Vector | None, top_k: int, result: Result | None
    ) -> list[Episode]:
        """Episodes with a goal like this one, best first, with the cosine as score."""
        if vector is None:
            vector = (await self._embed([goal[:_MAX_QUERY]]))[0]
        where = [Equals(RESULT, result)] if result else []
        limit = top_k
        while True:
            hits = await self._vectors.query(scope, [DenseLeg(vector)], limit, where)
            near = [hit for hit in hits if (hit.similarity or 0.0) >= self._min_similarity]
            living = [hit for hit in near if not self._expired(hit)]
            if len(living) >= top_k or len(near) < limit:
                return [from_hit(hit) for hit in living[:top_k]]
            limit *= 2  # expired ones took their places

    async def get(self, scope: Scope, identity: str) -> Episode | None:
        """One episode, or None."""
        hits = await self._vectors.get(scope, [identity])
        return next((from_hit(hit) for hit in hits if not self._expired(hit)), None)

    async def page(self, scope: Scope, limit: int, offset: int) -> tuple[list[Episode], int]:
        """Episodes newest first, and how many there are in all."""
        living = [hit for hit in await self.all(scope) if not self._expired(hit)]
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

    def _expired(self, hit: Hit) -> bool:
        return self._ttl is not None and ended_at(hit) <= as_text(datetime.now(UTC) - self._ttl)
