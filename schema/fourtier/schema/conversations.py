"""Messages of `conversations`: what happened in one conversation, in order, never searched."""

from typing import Annotated

from pydantic import Field

from fourtier.schema.message import (
    MAX_ITEMS,
    MAX_OFFSET,
    Answer,
    Identifier,
    LongText,
    Message,
    Metadata,
    Name,
    OptionalName,
    Scoped,
    Timestamp,
    Visible,
)
from fourtier.schema.tiers import MemoryConsidered
from fourtier.schema.topics import Topic, command, query


class InvocationSummary(Message):
    """One finished run, or one turn of imported dialogue.

    `query` is what was asked or said, `summary` what the agent did about it, `result` the answer.
    `extract_facts` and `record_episode` say whether promotion may make facts of it, and tell it in
    an episode.
    """

    id: OptionalName = Field(
        default="", description="of the run; a second update with it replaces the first"
    )
    query: LongText
    summary: LongText = ""
    result: LongText = ""
    speaker: OptionalName = ""
    timestamp: Timestamp
    metadata: Metadata = {}
    extract_facts: bool = True
    record_episode: bool = True


class ConversationMemory(Message):
    """The record of one conversation, oldest invocation first."""

    conversation_id: str
    invocations: tuple[InvocationSummary, ...]
    ended: bool = False
    metadata: Metadata = {}


class ConversationSummary(Message):
    """One line of a list of conversations."""

    conversation_id: str
    invocations: int
    started_at: Timestamp
    updated_at: Timestamp
    ended: bool


class InConversation(Scoped):
    """A message about one conversation."""

    conversation_id: Identifier


class GetConversationMemoryRequest(InConversation):
    """Read a record from its oldest invocation on, or with `last` the newest invocations.

    An answer has a maximum size: a long record is read page by page, by `offset` and `limit`, which
    have no meaning where `last` is given.
    """

    last: int | None = Field(default=None, ge=1, le=MAX_OFFSET)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET, description="oldest invocations to skip")
    limit: int | None = Field(default=None, ge=1, le=MAX_OFFSET)


class GetConversationMemoryResponse(Answer):
    """A conversation that is not known has no invocations; that is not an error.

    `next_offset` is set when newer invocations follow: the `offset` that reads on. `earlier` is
    True when an answer to `last` leaves older ones out; `earlier_summary` tells of them in a line
    each, oldest first. Of a user who has opted out an answer to `last` has no invocations, and what
    is read otherwise is not to be learned from.
    """

    conversation: ConversationMemory
    next_offset: int | None = None
    earlier: bool = False
    earlier_summary: str = ""
    opted_out: bool = False


class UpdateConversationMemoryRequest(InConversation):
    """Append a summary, or replace the one with the same id."""

    invocation_summary: InvocationSummary


class UpdateConversationMemoryResponse(Answer):
    """Sent when the record is on disk.

    `success` is False where it is not stored: it was forgotten, it has expired, its user has opted
    out, or there is no room for anything so old.
    """

    success: bool


class ListConversationsRequest(Scoped):
    """Page through a scope's conversations, last touched first."""

    limit: int = Field(default=100, ge=1, le=MAX_ITEMS)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class ListConversationsResponse(Answer):
    """`total` counts all in the scope, not only this page."""

    conversations: tuple[ConversationSummary, ...]
    total: int


class GetRunRequest(Scoped):
    """Read what was considered for a run; without an id for the newest run that used memory."""

    run_id: OptionalName = ""


class GetRunResponse(Answer):
    """`run_id` is empty where there is no such run in the records."""

    run_id: str = ""
    conversation_id: str = ""
    question: str = ""
    timestamp: Timestamp | None = None
    considered: tuple[MemoryConsidered, ...] = ()


class EndConversationRequest(InConversation):
    """Close a conversation, so that its lasting content is promoted."""


class EndConversationResponse(Answer):
    """`ended` is False when there was nothing to end, or it had ended already."""

    ended: bool


class DialogueTurn(InConversation):
    """One turn of past dialogue, as `fourtier import` publishes it."""

    speaker: Name
    content: Annotated[str, Field(min_length=1, max_length=32_000), Visible]
    timestamp: Timestamp
    turn_id: Name


class ConversationEnded(InConversation):
    """A conversation was ended by a call or had been idle. Its record is complete."""

    ended_at: Timestamp
    reason: OptionalName = Field(description="call or idle")


def by_conversation(message: InConversation) -> str:
    """Key that keeps one conversation's messages in order."""
    return f"{message.scope.key}/{message.conversation_id}"


GET_CONVERSATION = query(
    "conversations.get", GetConversationMemoryRequest, GetConversationMemoryResponse
)
UPDATE_CONVERSATION = command(
    "conversations.update",
    UpdateConversationMemoryRequest,
    UpdateConversationMemoryResponse,
    key=by_conversation,
)
LIST_CONVERSATIONS = query(
    "conversations.list", ListConversationsRequest, ListConversationsResponse
)
GET_RUN = query("conversations.get-run", GetRunRequest, GetRunResponse)
END_CONVERSATION = command(
    "conversations.end", EndConversationRequest, EndConversationResponse, key=by_conversation
)
DIALOGUE_RECORDED = Topic(
    "dialogue.recorded",
    DialogueTurn,
    key=by_conversation,
)
CONVERSATION_ENDED = Topic(
    "conversation.ended",
    ConversationEnded,
    key=by_conversation,
)
