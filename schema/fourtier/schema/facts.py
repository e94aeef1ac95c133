"""Messages of `facts`: statements stored for good, in a graph with a vector index over it."""

from typing import Annotated, Literal

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
    Visible,
)
from fourtier.schema.topics import Call, Topic, by_scope, command, query

FactKind = Literal["semantic", "procedural", "reflective"]

#: Facts that one statement may supersede by their ids.
_MAX_REPLACED = 100
#: Names of which a search may want one.
_MAX_MENTIONS = 100


class Statement(Message):
    """One time that a fact was said."""

    source: str = Field(description="conversation in which it was said")
    invocation_id: str = ""
    quote: str = Field(default="", description="the words that it came from")
    timestamp: Timestamp


class Fact(Message):
    """One statement, with where it came from and since when it holds.

    `valid_until` and `superseded_by` are set once a newer statement of the same thing is known.
    """

    id: str
    content: str
    source: str = Field(description="conversation in which it was learned")
    timestamp: Timestamp = Field(description="when it was last stated")
    kind: FactKind = "semantic"
    speaker: str = ""
    invocation_id: str = ""
    quote: str = Field(default="", description="the words that it came from")
    valid_from: Timestamp
    valid_until: Timestamp | None = None
    superseded_by: str | None = None
    possible_conflicts: tuple[str, ...] = Field(
        default=(), description="valid facts that may contradict this one"
    )
    earlier: tuple[Statement, ...] = Field(
        default=(), description="the latest times that it was said before the last one"
    )
    score: float | None = Field(default=None, description="only in answers to a search")
    metadata: Metadata = {}


class StoreFactRequest(Scoped):
    """Store a statement. Sent twice, or said twice, it is one fact.

    `subject` and `attribute` may say what the statement is about ("Alice", "employer"); then a
    newer statement with the same two supersedes this one. Without them the service works it out.
    `replaces` names facts that this one supersedes as whoever read both understands them; only
    those of the same scope count that were stated before this one.
    """

    content: Annotated[ShortText, Field(min_length=1), Visible]
    source: OptionalIdentifier = Field(default="", description="conversation_id")
    timestamp: Timestamp | None = Field(
        default=None, description="when it was said; default: when the request was sent"
    )
    kind: FactKind = "semantic"
    speaker: OptionalName = ""
    invocation_id: OptionalName = ""
    quote: ShortText = ""
    subject: OptionalName = ""
    attribute: OptionalName = ""
    metadata: Metadata = {}
    replaces: tuple[Name, ...] = Field(default=(), max_length=_MAX_REPLACED)
    learned_at: Timestamp | None = Field(
        default=None,
        description="of what was made of a whole conversation: when its record was read; what was "
        "forgotten of it since is not stored",
    )


class StoreFactResponse(Answer):
    """`created` is False when the fact was already known.

    `not_stored` says why it is not stored.
    """

    fact_id: str
    created: bool
    superseded: tuple[str, ...] = ()
    not_stored: NotStored | None = None
    redacted: dict[str, int] = Field(
        default={}, description="kind of personal data to how often it was taken out"
    )


class RetrieveFactsRequest(Scoped):
    """Search facts. Without an `embedding` the service embeds the query itself."""

    query: LongText = Field(min_length=1)
    embedding: Vector | None = None
    top_k: int = Field(default=5, ge=1, le=MAX_ITEMS)
    include_superseded: bool = False
    only_about: bool = Field(
        default=False,
        description="leaves out what is only the nearest of the rest, and has superseded facts "
        "too: for who wants to forget something",
    )
    mentions: tuple[Name, ...] = Field(
        default=(),
        max_length=_MAX_MENTIONS,
        description="names, in capitals or not, of which a fact must mention at least one",
    )


class RetrieveFactsResponse(Answer):
    """Best first; a superseded fact never stands above the one that replaced it.

    There are none of a user who has opted out.
    """

    facts: tuple[Fact, ...]
    opted_out: bool = False


class GetFactRequest(Scoped):
    """Read one fact."""

    fact_id: Name


class GetFactResponse(Answer):
    """`fact` is None when the scope has no such fact."""

    fact: Fact | None


class ListFactsRequest(Scoped):
    """Page through a scope's facts, newest first."""

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    include_superseded: bool = False


class ListFactsResponse(Answer):
    """`total` counts all that match, not only this page."""

    facts: tuple[Fact, ...]
    total: int


class ListNamesRequest(Scoped):
    """The names that valid facts mention: people, places, organisations, products.

    `with_name`, in capitals or not, leaves those that some fact mentions together with that one.
    """

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    with_name: OptionalName = ""


class MentionedName(Message):
    """A name, written as it is most often, and how many valid facts mention it.

    Of names that are asked for with another one, facts that mention both.
    """

    name: str
    facts: int


class ListNamesResponse(Answer):
    """The most frequent names first; `total` counts all. A user who has opted out has none."""

    names: tuple[MentionedName, ...]
    total: int | None = None
    opted_out: bool = False


class ReindexFactsRequest(Message):
    """Make the next part of the index from the graph, for all users: an operator's call.

    The caller keeps the cursor: "" begins, and each answer gives the one to go on with.
    """

    cursor: str = Field(default="", max_length=2_000)


class ReindexFactsResponse(Answer):
    """What this part did, and how many there are of all users: facts, and points in the index.

    An empty `cursor` says that it is done.
    """

    cursor: str
    indexed: int
    removed: int = Field(description="points of no fact")
    facts: int
    points: int


STORE_FACT = command("facts.store", StoreFactRequest, StoreFactResponse, key=by_scope)
RETRIEVE_FACTS = query("facts.retrieve", RetrieveFactsRequest, RetrieveFactsResponse)
GET_FACT = query("facts.get", GetFactRequest, GetFactResponse)
LIST_FACTS = query("facts.list", ListFactsRequest, ListFactsResponse)
LIST_NAMES = query("facts.names", ListNamesRequest, ListNamesResponse)
#: Not persistent: the caller sees how far it came, and asks again.
REINDEX_FACTS = Call(
    Topic("facts.reindex", ReindexFactsRequest, persistent=False),
    ReindexFactsResponse,
    deadline=60.0,
)
