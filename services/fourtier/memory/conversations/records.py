"""Conversations and invocations as the graph stores them, and the ways from and to messages."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self, cast

from fourtier.engines.graph.protocol import Row, Value
from fourtier.engines.timestamps import as_moment, as_text
from fourtier.memory.conversations.summary import in_plain_words
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.conversations import DialogueTurn, InConversation, InvocationSummary
from fourtier.schema.message import MAX_LONG_TEXT, Scope

_NAMESPACE = uuid.UUID("8f0f0f2e-3a55-5d0c-9d7e-6a1f5c2b7d41")

#: Names of fields and punctuation of an invocation in an answer.
_FRAME = 100
#: What can differ between two versions of one invocation.
CONTENT = ("query", "summary", "result", "speaker", "said_at")
#: The properties of a conversation besides its scope.
STATE = (
    "id",
    "user",
    "collection",
    "conversation_id",
    "recorded_at",
    "active_at",
    "ended_state",
    "ended_at",
    "ended_reason",
)


class ConversationKey(NamedTuple):
    """Which conversation: two users may give theirs the same id, and they stay two."""

    scope: Scope
    conversation_id: str

    @classmethod
    def of(cls, message: InConversation) -> Self:
        """The conversation that a message is about."""
        return cls(message.scope, message.conversation_id)

    @property
    def id(self) -> str:
        """Its name among the conversations of all scopes."""
        return str(uuid.uuid5(_NAMESPACE, json.dumps([*self.scope, self.conversation_id])))


@dataclass(frozen=True, slots=True)
class InvocationRecord:
    """One invocation that is to be written.

    Attributes:
        said_at: orders the record.
        active_at: when it happened, which says whether that was before or after an end; the time
            of recording where nothing says it.
    """

    conversation: ConversationKey
    invocation_id: str
    query: str
    summary: str
    result: str
    speaker: str
    said_at: str
    active_at: str

    @classmethod
    def from_summary(cls, key: ConversationKey, summary: InvocationSummary, now: datetime) -> Self:
        """From an update. Without an id of its own, the same summary is the same invocation."""
        content = (summary.query, summary.summary, summary.result, summary.speaker)
        said_at = as_text(summary.timestamp)
        made = uuid.uuid5(_NAMESPACE, json.dumps([*content, said_at]))
        return cls(key, summary.id or str(made), *content, said_at, as_text(now))

    @classmethod
    def from_run(cls, event: InvocationEnded) -> Self:
        """From the event of a finished run: asked X, did Y, result Z."""
        return cls(
            conversation=ConversationKey.of(event),
            invocation_id=event.run_id,
            query=event.question[:MAX_LONG_TEXT],
            summary=in_plain_words(event.steps, succeeded=event.succeeded),
            result=event.answer[:MAX_LONG_TEXT],
            speaker="",
            said_at=as_text(event.started_at),
            active_at=as_text(event.ended_at),
        )

    @classmethod
    def from_turn(cls, turn: DialogueTurn, now: datetime) -> Self:
        """From a turn of imported dialogue."""
        return cls(
            conversation=ConversationKey.of(turn),
            invocation_id=turn.turn_id,
            query=turn.content,
            summary="",
            result="",
            speaker=turn.speaker,
            said_at=as_text(turn.timestamp),
            active_at=as_text(now),
        )

    @property
    def id(self) -> str:
        """Its name among the invocations of all conversations."""
        return str(uuid.uuid5(_NAMESPACE, f"{self.conversation.id}\n{self.invocation_id}"))

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        content: dict[str, Value] = {name: getattr(self, name) for name in CONTENT}
        return content | {
            "id": self.id,
            "conversation": self.conversation.id,
            "scope": self.conversation.scope.key,
            "invocation_id": self.invocation_id,
        }

    def equals(self, row: dict[str, Value]) -> bool:
        """Whether the stored row says the same."""
        return all(row[name] == getattr(self, name) for name in CONTENT)


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation without what was said in it.

    Attributes:
        recorded_at: when something was last added or changed, by this service's clock. It names
            the state of the record: the same text means the same content.
        active_at: when the conversation was last at work, see `InvocationRecord`.
        ended_state: the state that it was last ended in; empty when it never was.
    """

    key: ConversationKey
    recorded_at: str
    active_at: str
    ended_state: str = ""
    ended_at: str = ""
    ended_reason: str = ""

    @classmethod
    def from_row(cls, row: dict[str, Value]) -> Self:
        """From a row that has every part under its own name."""
        part = {name: cast("str", row[name]) for name in STATE}
        return cls(
            ConversationKey(Scope(part["user"], part["collection"]), part["conversation_id"]),
            *(part[name] for name in STATE[4:]),
        )

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        return {
            "id": self.key.id,
            "scope": self.key.scope.key,
            "user": self.key.scope.user,
            "collection": self.key.scope.collection,
            "conversation_id": self.key.conversation_id,
            "recorded_at": self.recorded_at,
            "active_at": self.active_at,
            "ended_state": self.ended_state,
            "ended_at": self.ended_at,
            "ended_reason": self.ended_reason,
        }

    @property
    def ended(self) -> bool:
        """Whether nothing was added since the last end."""
        return self.ended_state == self.recorded_at

    @property
    def late(self) -> bool:
        """Whether what was added since the last end had happened before it."""
        return bool(self.ended_at) and not self.ended and self.active_at <= self.ended_at


def to_summary(row: Row) -> InvocationSummary:
    """An invocation for an answer."""
    return InvocationSummary(
        id=str(row["invocation_id"]),
        query=str(row["query"]),
        summary=str(row["summary"]),
        result=str(row["result"]),
        speaker=str(row["speaker"]),
        timestamp=as_moment(str(row["said_at"])),
    )


def characters_of(row: Row) -> int:
    """About how many characters an invocation takes in an answer."""
    return _FRAME + sum(len(str(row[name])) for name in ("invocation_id", *CONTENT))
