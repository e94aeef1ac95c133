"""Finding entries: by their words, by the words around them, and by meaning, in one ranking."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from fourtier.engines.timestamps import as_moment
from fourtier.engines.vectors.protocol import Found, Hit, VectorStore
from fourtier.engines.vectors.query import (
    Condition,
    DenseLeg,
    Equals,
    Group,
    Leg,
    MinMax,
    Range,
    SparseLeg,
)
from fourtier.memory.archive.asked_time import window_of
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.passages import CONTEXT, MEANING, WINDOW, WORDS
from fourtier.memory.archive.store import ArchiveStore
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.errors import FourtierError
from fourtier.schema.archive import LegName, SearchArchiveRequest
from fourtier.schema.message import Vector

log = logging.getLogger(__name__)

LEGS: tuple[LegName, ...] = ("words", "window", "meaning", "context")
_SPARSE: tuple[LegName, ...] = (WORDS, WINDOW)
_DENSE: tuple[LegName, ...] = (MEANING, CONTEXT)
#: Characters of a query that are searched by; models read less.
_MAX_QUERY = 8_000
#: Entries that are compared where a query names a time, and what those count that were said then.
_DEEP, _TIME_WEIGHT = 100, 0.5
#: Between two times that stores tell apart.
_SHORTEST = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class EntryHit:
    """An entry that was found; `legs` as in `Hit`."""

    entry: Entry
    score: float
    legs: dict[str, Found]


class ArchiveSearch:
    """Searches passages, and answers with their entries."""

    def __init__(
        self, store: ArchiveStore, vectors: VectorStore, embed: Embed, embedding_seconds: float
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._embed = embed
        self._embedding_seconds = embedding_seconds

    async def search(
        self, request: SearchArchiveRequest, expired_until: str = ""
    ) -> tuple[list[EntryHit], dict[str, str]]:
        """Entries, best first; and the legs that could not search, with the reason.

        Without embeddings the words still search. What was said until `expired_until` is not found.
        """
        query = request.query[:_MAX_QUERY]
        wanted = request.legs or LEGS
        left_out: dict[str, str] = {}
        legs: list[Leg] = [SparseLeg(query, field) for field in _SPARSE if field in wanted]
        if dense := [field for field in _DENSE if field in wanted]:
            try:
                vector = request.embedding or await self._vector(query)
                legs += [DenseLeg(vector, field) for field in dense]
            except (TimeoutError, FourtierError) as error:
                reason = str(error) or "no answer in time"
                left_out = dict.fromkeys(dense, reason)
                log.warning("The archive is searched by words alone: %s", reason)
        hits = await self._query(request, legs, expired_until)
        ids = {str(hit.payload["entry"]): request.scope for hit in hits}
        entries = await self._store.by_ids(ids)
        return [
            EntryHit(entries[name], hit.score, dict(hit.legs) if request.explain else {})
            for hit in hits
            if (name := str(hit.payload["entry"])) in entries
        ], left_out

    async def _query(
        self, request: SearchArchiveRequest, legs: Sequence[Leg], expired_until: str
    ) -> list[Hit]:
        """Search all, and once more the time that the query names, whose scores add up."""

        async def query(request: SearchArchiveRequest, top_k: int) -> list[Hit]:
            return await self._vectors.query(
                request.scope,
                legs,
                top_k,
                _conditions(request, expired_until),
                fusion=MinMax(),
                group=Group("entry"),
                explain=request.explain,
            )

        free = request.since is None and request.until is None
        window = window_of(request.query, datetime.now(UTC)) if free else None
        if window is None:
            return await query(request, request.top_k)
        then = request.model_copy(update={"since": window.since, "until": window.until})
        deep = max(request.top_k, _DEEP)
        everything, in_time = await asyncio.gather(query(request, deep), query(then, deep))
        return _added(everything, in_time)[: request.top_k]

    async def _vector(self, query: str) -> Vector:
        async with asyncio.timeout(self._embedding_seconds):
            return (await self._embed([query]))[0]


def _added(everything: Sequence[Hit], in_time: Sequence[Hit]) -> list[Hit]:
    """Hits by the sum of their scores; `time` is the leg that has searched the named time."""
    hits = {str(hit.payload["entry"]): hit for hit in everything}
    for rank, hit in enumerate(in_time, start=1):
        name, more = str(hit.payload["entry"]), _TIME_WEIGHT * hit.score
        here = hits.get(name) or replace(hit, score=0.0)
        legs = {**here.legs, "time": Found(rank, hit.score)}
        hits[name] = replace(here, score=here.score + more, legs=legs)
    return sorted(hits.values(), key=lambda hit: -hit.score)


def _conditions(request: SearchArchiveRequest, expired_until: str) -> list[Condition]:
    found: list[Condition] = []
    if request.source:
        found.append(Equals("source", request.source))
    if request.speaker:
        found.append(Equals("speaker", request.speaker.casefold()))
    since = request.since
    if expired_until:
        living = as_moment(expired_until) + _SHORTEST
        since = max(since, living) if since else living
    if since is not None or request.until is not None:
        found.append(Range("at", since, request.until))
    return found
