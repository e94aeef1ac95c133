"""Finding the episodes that help with a task: by their goal's meaning and by all their words."""

from datetime import timedelta

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.episodes.comparison import compared
from fourtier.memory.episodes.ranking import arranged
from fourtier.memory.episodes.records import RESULT, from_hit, has_expired, searchable_text
from fourtier.memory.episodes.resemblance import Resemblance
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.service.stores.query import DenseLeg, Equals, Leg, MinMax, SparseLeg, Where
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.episodes import Episode, Result
from fourtier.schema.message import Scope, Vector

#: Characters of a query; models read less.
_MAX_QUERY = 8_000
#: Episodes that are compared with each other; those behind them are handed over as found.
_POOL = 20
#: Of the query's words, which an episode has whose goal is not among the nearest.
_ENOUGH_WORDS = 1 / 3
_GOAL, _WORDS = "goal", "words"


class EpisodeSearch:
    """Searches the episodes of scopes; those older than `ttl` are not found any more.

    A task is mostly told in more words than its goal, such as names, numbers and what was answered
    when somebody asked back: these stand in the steps. So both are searched, the goals by their
    meaning and all that is told by its words, and the scores of both are added.

    Args:
        ttl: how long after its end an episode is found; None is for ever.
        min_similarity: cosine below which a goal is another matter and not found.
    """

    def __init__(
        self, vectors: VectorStore, embed: Embed, *, ttl: timedelta | None, min_similarity: float
    ) -> None:
        self._vectors = vectors
        self._embed = embed
        self._ttl = ttl
        self._min_similarity = min_similarity

    async def search(
        self, scope: Scope, query: str, vector: Vector | None, top_k: int, result: Result | None
    ) -> list[Episode]:
        """Episodes for a task like this, best first, each compared with one that ended otherwise.

        `score` is the cosine of the goals, where it is known; they are not ordered by it alone.
        """
        query = query[:_MAX_QUERY]
        if vector is None:
            vector = (await self._embed([query]))[0]
        found = await self._near(scope, query, vector, max(_POOL, top_k), [])
        others = found
        if result is not None:
            found = await self._near(scope, query, vector, top_k, [Equals(RESULT, result)])
            known = {episode.id for episode in found}
            others = [*found, *(each for each in others if each.id not in known)]
        nearest, others = found[:_POOL], others[: 2 * _POOL]
        resemblance = Resemblance(others)
        first = arranged(nearest, resemblance)[:top_k]
        behind = found[_POOL:top_k]
        return [*(compared(episode, others, resemblance) for episode in first), *behind]

    async def _near(
        self, scope: Scope, query: str, vector: Vector, number: int, where: Where
    ) -> list[Episode]:
        """So many episodes that are about the query, if there are, best first."""
        legs: list[Leg] = [DenseLeg(vector, name=_GOAL), SparseLeg(query, name=_WORDS)]
        asked = terms(query)
        limit = number
        while True:
            hits = await self._vectors.query(
                scope, legs, limit, where, fusion=MinMax(), explain=True
            )
            living = [from_hit(hit) for hit in hits if not has_expired(hit, self._ttl)]
            goals = {hit.id: hit.legs[_GOAL].score for hit in hits if _GOAL in hit.legs}
            near = [
                episode.model_copy(update={"score": goals.get(episode.id)})
                for episode in living
                if self._is_near(episode, goals, asked)
            ]
            if len(near) >= number or len(hits) < limit:
                return near[:number]
            limit *= 2  # those that expired, or are of another matter, took their places

    def _is_near(self, episode: Episode, goals: dict[str, float], asked: frozenset[int]) -> bool:
        similarity = goals.get(episode.id)
        if similarity is not None:
            return similarity >= self._min_similarity
        return len(asked & terms(searchable_text(episode))) >= _ENOUGH_WORDS * len(asked)
