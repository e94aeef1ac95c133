"""An episode as the vector store has it, and the ways from a request and to an answer."""

import json
import uuid
from datetime import UTC, datetime, timedelta

from fourtier.engines.timestamps import as_text
from fourtier.runtime.service.stores.vectors import Hit, Payload
from fourtier.schema.episodes import Episode, StoreEpisodeRequest

_NAMESPACE = uuid.UUID("6f4f6c1a-2d6b-5c7e-8b1d-94a1f0c3e275")

_EPISODE, _ENDED_AT, _SAID_AT, _SENT_AT = "episode", "ended_at", "said_at", "sent_at"
RESULT = "result"


def episode_id(request: StoreEpisodeRequest) -> str:
    """The given id, or one that is the same whenever the same is to be stored.

    The time is part of it only where it was given: a repeated request without one is still the
    same episode.
    """
    if request.episode_id:
        return request.episode_id
    ended_at = as_text(request.timestamp) if request.timestamp else ""
    parts = (*request.scope, request.goal, request.source, ended_at)
    return str(uuid.uuid5(_NAMESPACE, json.dumps(parts)))


def to_episode(request: StoreEpisodeRequest, known: Episode | None, sent_at: datetime) -> Episode:
    """The episode of a request; without a time of its own it keeps the one that is known."""
    return Episode(
        id=episode_id(request),
        goal=request.goal,
        steps=request.steps,
        outcome=request.outcome,
        lessons=request.lessons,
        result=request.result,
        source=request.source,
        invocation_id=request.invocation_id,
        timestamp=request.timestamp or (known.timestamp if known else sent_at),
        metadata=request.metadata,
    )


def searchable_text(episode: Episode) -> str:
    """All that an episode tells, which its words are searched in."""
    return "\n".join((episode.goal, *episode.steps, episode.outcome, episode.lessons))


def said_at(request: StoreEpisodeRequest, sent_at: datetime) -> str:
    """When what an episode tells of was said, sortable."""
    return as_text(request.said_at or request.timestamp or sent_at)


def to_payload(episode: Episode, said_at: str, sent_at: str) -> Payload:
    """What is stored with the vector."""
    return {
        _EPISODE: episode.model_dump_json(),
        _ENDED_AT: as_text(episode.timestamp),
        _SAID_AT: said_at,
        _SENT_AT: sent_at,
        RESULT: episode.result,
    }


def from_hit(hit: Hit) -> Episode:
    """The episode of a hit."""
    return Episode.model_validate_json(str(hit.payload[_EPISODE]))


def ended_at(hit: Hit) -> str:
    """When the episode ended, sortable, without reading the rest of it."""
    return str(hit.payload[_ENDED_AT])


def was_said_at(hit: Hit) -> str:
    """When what the episode tells of was said, sortable."""
    return str(hit.payload.get(_SAID_AT) or ended_at(hit))


def was_sent_at(hit: Hit) -> str:
    """When the request was sent that stored the episode as it is, sortable."""
    return str(hit.payload.get(_SENT_AT, ""))


def has_expired(hit: Hit, ttl: timedelta | None) -> bool:
    """Whether the episode ended so long ago; never without a `ttl`."""
    return ttl is not None and ended_at(hit) <= as_text(datetime.now(UTC) - ttl)
