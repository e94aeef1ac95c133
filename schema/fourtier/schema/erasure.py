"""Messages of forgetting: one selection, which every service with a store understands."""

from pydantic import Field

from fourtier.schema.message import (
    MAX_ITEMS,
    Answer,
    Message,
    Name,
    OptionalIdentifier,
    OptionalName,
    Scoped,
    ShortText,
)
from fourtier.schema.topics import Call, by_scope, command


class EraseRequest(Scoped):
    """Delete all memories that one of these selects, and leave tombstones, so that they stay gone.

    What was said after this request was sent is not touched, and may be stored later. With
    `dry_run` nothing is deleted and the answer says what would be.
    """

    ids: tuple[Name, ...] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description="of facts, episodes, runs or blocks of documents, by the service",
    )
    conversation_id: OptionalIdentifier = Field(
        default="", description="what was said and learned in it; see `invocation_ids`"
    )
    invocation_ids: tuple[Name, ...] = Field(
        default=(), max_length=MAX_ITEMS, description="only these of the conversation"
    )
    document: OptionalName = Field(
        default="", description="what the archive has of it, by its name"
    )
    containing: tuple[ShortText, ...] = Field(
        default=(), max_length=MAX_ITEMS, description="texts; case, spacing and marks do not count"
    )
    prompted_with: tuple[Name, ...] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description="ids of memories: exchanges whose prompt had one of them; for `conversations`",
    )
    everything: bool = Field(default=False, description="all of the user's collection")
    dry_run: bool = False


class Erased(Message):
    """A memory that was deleted, or would be."""

    kind: str
    id: str
    content: str = Field(default="", description="the beginning of it")
    conversation_id: str = ""
    invocation_id: str = ""
    document: str = ""


class EraseResponse(Answer):
    """What was deleted: how many memories, and the first of them."""

    number: int
    erased: tuple[Erased, ...] = ()


def erasure(service: str) -> Call[EraseRequest, EraseResponse]:
    """The call that deletes what a service stores."""
    return command(f"{service}.erase", EraseRequest, EraseResponse, key=by_scope)


ERASE_FACTS = erasure("facts")
ERASE_EPISODES = erasure("episodes")
ERASE_CONVERSATIONS = erasure("conversations")
ERASE_WORKING_MEMORY = erasure("working-memory")
