"""Finding entries: by their words, by the words around them, and by meaning, in one ranking."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from fourtier.engines.completeness import IndexCompleteness
from fourtier.engines.timestamps import parse_time
from fourtier.memory.archive.asked_speaker import asked_speakers
from fourtier.memory.archive.asked_time import window_of
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.passages import CONTEXT, MEANING, WINDOW, WORDS
from fourtier.memory.archive.store import ArchiveStore
from fourtier.models.embeddings.client import Embed
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.service.stores.query import (
    AnyOf,
    Condition,
    DenseLeg,
    Equals,
    Group,
    Leg,
    MinMax,
    Range,
    SparseLeg,
)
from fourtier.runtime.service.stores.vectors import Found, Hit, VectorStore
from fourtier.schema.archive import LegName, SearchArchiveRequest
from fourtier.schema.message import Vector

log = logging.getLogger(__name__)

LEGS: tuple[LegName, ...] = ("words", "window", "meaning", "context")
_SPARSE: tuple[LegName, ...] = (WORDS, WINDOW)
_DENSE: tuple[LegName, ...] = (MEANING, CONTEXT)
#: Characters of a query that are searched by; models read less.
_MAX_QUERY = 8_000
#: Entries that are compared, however many are wanted.
_DEEP = 100
#: What the scores count of entries that were said at a time, or by people, whom a query names.
_NARROWER_WEIGHT = 0.5
#: What it counts that an entry's source has other good ones: of so many of them the scores, each of
#: which counts less than the one before.
_SOURCE_WEIGHT, _BEST_OF_SOURCE, _DECAY = 0.1, 3, 0.7
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
        self,
        store: ArchiveStore,
        vectors: VectorStore,
        embed: Embed,
        embedding_seconds: float,
        completeness: IndexCompleteness,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._embed = embed
        self._embedding_seconds = embedding_seconds
        self._completeness = completeness

    async def search(
        self, request: SearchArchiveRequest, expired_until: str = ""
    ) -> tuple[list[EntryHit], dict[str, str]]:
        """Entries, best first; and the legs that could not search, with the reason.

        Without embeddings the words still search. What was said until `expired_until` is not found.

        Raises:
            UnavailableError: the index was lost, and is not made again yet.
        """
        await self._completeness.require()
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
        ids = {_entry_of(hit): request.scope for hit in hits}
        entries = await self._store.by_ids(ids)
        return [
            EntryHit(entries[name], hit.score, dict(hit.legs) if request.explain else {})
            for hit in hits
            if (name := _entry_of(hit)) in entries
        ], left_out

    async def _query(
        self, request: SearchArchiveRequest, legs: Sequence[Leg], expired_until: str
    ) -> list[Hit]:
        """Search all, and once more what is narrower, whose scores add up."""

        async def query(top_k: int, *narrower: Condition) -> list[Hit]:
            return await self._vectors.query(
                request.scope,
                legs,
                top_k,
                [*_conditions(request, expired_until), *narrower],
                fusion=MinMax(),
                group=Group("entry"),
                explain=request.explain,
            )

        narrower = _narrower(request)
        deep = max(request.top_k, _DEEP)
        everything, *others = await asyncio.gather(
            query(deep), *(query(deep, condition) for condition in narrower.values())
        )
        hits = {_entry_of(hit): hit for hit in everything}
        for leg, found in zip(narrower, others, strict=True):
            _add(hits, leg, found)
        found_by_all = sorted(hits.values(), key=lambda hit: -hit.score)
        return _with_sources(found_by_all)[: request.top_k]

    async def _vector(self, query: str) -> Vector:
        async with asyncio.timeout(self._embedding_seconds):
            return (await self._embed([query]))[0]


def _narrower(request: SearchArchiveRequest) -> dict[str, Condition]:
    """What a query asks for beyond its words: a time in which, and people by whom, it was said."""
    found: dict[str, Condition] = {}
    if request.since is None and request.until is None:
        window = window_of(request.query, datetime.now(UTC))
        if window is not None:
            found["time"] = Range("at", window.since, window.until)
    speakers = asked_speakers(request.query, request.scope.user)
    if speakers and not request.speaker:
        found["speaker"] = AnyOf("speaker", speakers)
    return found


def _add(hits: dict[str, Hit], leg: str, found: Sequence[Hit]) -> None:
    """Add to the scores of hits what a narrower search gives them."""
    for rank, hit in enumerate(found, start=1):
        here = hits.get(_entry_of(hit)) or replace(hit, score=0.0)
        score = here.score + _NARROWER_WEIGHT * hit.score
        legs = {**here.legs, leg: Found(rank, hit.score)}
        hits[_entry_of(hit)] = replace(here, score=score, legs=legs)


def _with_sources(hits: Sequence[Hit]) -> list[Hit]:
    """Hits in order, best first, again with what their sources add to their scores.

    Of a conversation that is about what is asked several turns are found, and what answers the
    question may be among the weaker ones.
    """
    by_source: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_source[_source_of(hit)].append(hit)
    support = {
        source: sum(hit.score * _DECAY**place for place, hit in enumerate(some[:_BEST_OF_SOURCE]))
        for source, some in by_source.items()
    }
    ranks = {
        source: rank
        for rank, source in enumerate(sorted(support, key=lambda each: -support[each]), start=1)
    }
    supported = [
        replace(
            hit,
            score=hit.score + _SOURCE_WEIGHT * support[_source_of(hit)],
            legs={**hit.legs, "source": Found(ranks[_source_of(hit)], support[_source_of(hit)])},
        )
        for hit in hits
    ]
    return sorted(supported, key=lambda hit: -hit.score)


def _source_of(hit: Hit) -> str:
    return str(hit.payload["source"])


def _entry_of(hit: Hit) -> str:
    return str(hit.payload["entry"])


def _conditions(request: SearchArchiveRequest, expired_until: str) -> list[Condition]:
    found: list[Condition] = []
    if request.source:
        found.append(Equals("source", request.source))
    if request.speaker:
        found.append(Equals("speaker", request.speaker.casefold()))
    since = request.since
    if expired_until:
        living = parse_time(expired_until) + _SHORTEST
        since = max(since, living) if since else living
    if since is not None or request.until is not None:
        found.append(Range("at", since, request.until))
    return found
