"""Messages of `episodes`: what was attempted, how, and what came of it."""

from typing import Literal

from pydantic import Field

from fourtier.schema.message import (
    MAX_ITEMS,
    MAX_OFFSET,
    Answer,
    LongText,
    Message,
    Metadata,
    Name,
    NotStored,
    OptionalIdentifier,
    OptionalName,
    Scoped,
    ShortText,
    Timestamp,
    Vector,
)
from fourtier.schema.topics import by_scope, command, query

#: How an episode ended. `unknown` where nothing tells.
Result = Literal["success", "failure", "unknown"]


class Episode(Message):
    """One finished piece of problem-solving."""

    id: str
    goal: str
    steps: tuple[str, ...]
    outcome: str
    lessons: str = ""
    result: Result = "unknown"
    source: str = Field(default="", description="conversation_id")
    invocation_id: str = ""
    timestamp: Timestamp
    score: float | None = Field(
        default=None, description="cosine of goal and query; only in answers to a search"
    )
    comparison: str = Field(
        default="",
        description="what a success of the same goal did otherwise than a failure, one of the two "
        "being this episode; only in answers to a search, stored nowhere",
    )
    compared_with: str = Field(default="", description="the other episode's id")
    metadata: Metadata = {}


class StoreEpisodeRequest(Scoped):
    """Store an episode. `episode_id` makes a repeated request harmless."""

    episode_id: OptionalName = Field(
        default="", description="made from goal, source and time when empty"
    )
    goal: ShortText = Field(min_length=1)
    steps: tuple[ShortText, ...] = Field(default=(), max_length=100)
    outcome: ShortText = ""
    lessons: ShortText = ""
    result: Result = "unknown"
    source: OptionalIdentifier = Field(default="", description="conversation_id")
    invocation_id: OptionalName = Field(default="", description="the run, of an episode of one")
    timestamp: Timestamp | None = Field(
        default=None, description="when it ended; default: when the request was sent"
    )
    said_at: Timestamp | None = Field(
        default=None, description="when what it tells of was said; default: when it ended"
    )
    learned_at: Timestamp | None = Field(
        default=None,
        description="of what was made of a whole conversation: when its record was read; what was "
        "forgotten of it since is not stored",
    )
    metadata: Metadata = {}


class StoreEpisodeResponse(Answer):
    """`created` is False when it was already known.

    `not_stored` says why it is not stored.
    """

    episode_id: str
    created: bool
    not_stored: NotStored | None = None


class RetrieveEpisodesRequest(Scoped):
    """Search by what is to be done. `result` narrows it to successes or failures."""

    query: LongText = Field(min_length=1)
    embedding: Vector | None = None
    top_k: int = Field(default=3, ge=1, le=MAX_ITEMS)
    result: Result | None = None


class RetrieveEpisodesResponse(Answer):
    """Best first; none of a user who has opted out."""

    episodes: tuple[Episode, ...]
    opted_out: bool = False


class GetEpisodeRequest(Scoped):
    """Read one episode."""

    episode_id: Name


class GetEpisodeResponse(Answer):
    """`episode` is None when the scope has no such episode."""

    episode: Episode | None


class ListEpisodesRequest(Scoped):
    """Page through a scope's episodes, newest first."""

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListEpisodesResponse(Answer):
    """`total` counts all in the scope, not only this page."""

    episodes: tuple[Episode, ...]
    total: int


STORE_EPISODE = command("episodes.store", StoreEpisodeRequest, StoreEpisodeResponse, key=by_scope)
RETRIEVE_EPISODES = query("episodes.retrieve", RetrieveEpisodesRequest, RetrieveEpisodesResponse)
GET_EPISODE = query("episodes.get", GetEpisodeRequest, GetEpisodeResponse)
LIST_EPISODES = query("episodes.list", ListEpisodesRequest, ListEpisodesResponse)
