"""Conversations and invocations as the graph stores them, and the ways from and to messages."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self, cast

from pydantic import TypeAdapter

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.conversations.summary import in_plain_words
from fourtier.runtime.service.stores.graph import Row, Value
from fourtier.schema.agent import InvocationEnded
from fourtier.schema.conversations import (
    DialogueTurn,
    GetRunResponse,
    InConversation,
    InvocationSummary,
)
from fourtier.schema.message import MAX_LONG_TEXT, Metadata, Scope
from fourtier.schema.tiers import MemoryConsidered

_CONSIDERED = TypeAdapter(tuple[MemoryConsidered, ...])
_NAMESPACE = uuid.UUID("8f0f0f2e-3a55-5d0c-9d7e-6a1f5c2b7d41")

#: How a memory is marked that was found and left out of the prompt.
_NOT_IN_PROMPT = frozenset({"budget", "outdated"})
#: Names of fields and punctuation of an invocation in an answer.
_FRAME = 100
#: What can differ between two versions of one invocation: texts, and what an older release has
#: not stored, which is the empty text or False there.
CONTENT = ("query", "summary", "result", "speaker", "said_at", "metadata")
FLAGS = ("no_facts", "no_episode")
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
        sent_at: when its message was sent; of two versions the one that was sent later counts.
        active_at: when it happened, which says whether that was before or after an end; when it was
            sent where nothing says it.
        metadata: as JSON text; empty where there is none.
        considered: what was found for the run, as JSON text; read only where it is asked for.
        no_facts: promotion makes no facts of it.
        no_episode: promotion does not tell it in an episode.
    """

    conversation: ConversationKey
    invocation_id: str
    query: str
    summary: str
    result: str
    speaker: str
    said_at: str
    sent_at: str
    active_at: str
    metadata: str = ""
    considered: str = ""
    no_facts: bool = False
    no_episode: bool = False

    @classmethod
    def from_summary(
        cls, key: ConversationKey, summary: InvocationSummary, sent_at: datetime
    ) -> Self:
        """From an update. Without an id of its own, the same summary is the same invocation."""
        content = (summary.query, summary.summary, summary.result, summary.speaker)
        said_at = as_text(summary.timestamp)
        sent = as_text(sent_at)
        made = uuid.uuid5(_NAMESPACE, json.dumps([*content, said_at]))
        return cls(
            key,
            summary.id or str(made),
            *content,
            said_at,
            sent,
            sent,
            metadata=_as_json(summary.metadata),
            no_facts=not summary.extract_facts,
            no_episode=not summary.record_episode,
        )

    @classmethod
    def from_run(cls, event: InvocationEnded, sent_at: datetime) -> Self:
        """From the event of a finished run: asked X, did Y, result Z."""
        return cls(
            conversation=ConversationKey.of(event),
            invocation_id=event.run_id,
            query=event.question[:MAX_LONG_TEXT],
            summary=in_plain_words(event.steps, succeeded=event.succeeded),
            result=event.answer[:MAX_LONG_TEXT],
            speaker="",
            said_at=as_text(event.started_at),
            sent_at=as_text(sent_at),
            active_at=as_text(event.ended_at),
            considered=_CONSIDERED.dump_json(event.considered, exclude_defaults=True).decode(),
            no_facts=not event.extract_facts,
            no_episode=not event.record_episode,
        )

    @classmethod
    def from_turn(cls, turn: DialogueTurn, sent_at: datetime) -> Self:
        """From a turn of imported dialogue."""
        return cls(
            conversation=ConversationKey.of(turn),
            invocation_id=turn.turn_id,
            query=turn.content,
            summary="",
            result="",
            speaker=turn.speaker,
            said_at=as_text(turn.timestamp),
            sent_at=as_text(sent_at),
            active_at=as_text(sent_at),
        )

    @property
    def id(self) -> str:
        """Its name among the invocations of all conversations."""
        return str(uuid.uuid5(_NAMESPACE, f"{self.conversation.id}\n{self.invocation_id}"))

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        content: dict[str, Value] = {name: getattr(self, name) for name in (*CONTENT, *FLAGS)}
        return content | {
            "id": self.id,
            "conversation": self.conversation.id,
            "scope": self.conversation.scope.key,
            "invocation_id": self.invocation_id,
            "sent_at": self.sent_at,
            "considered": self.considered,
        }

    def replaces(self, row: dict[str, Value]) -> bool:
        """Whether it says something else than the stored row, and was sent later."""
        is_other = any((row[name] or "") != getattr(self, name) for name in CONTENT) or any(
            bool(row[name]) != getattr(self, name) for name in FLAGS
        )
        return is_other and self.sent_at > str(row["sent_at"])


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


def _as_json(metadata: Metadata) -> str:
    """One text for equal metadata, in which its words are found as they are."""
    return json.dumps(metadata, sort_keys=True, ensure_ascii=False) if metadata else ""


def in_prompt(considered: str) -> frozenset[str]:
    """The ids of the memories whose words a run's prompt had.

    Args:
        considered: as a record has it.
    """
    if not considered:
        return frozenset()
    found = _CONSIDERED.validate_json(considered)
    return frozenset(each.id for each in found if each.shown not in _NOT_IN_PROMPT)


def to_run(row: Row) -> GetRunResponse:
    """A run with what was considered for it, for an answer."""
    return GetRunResponse(
        run_id=str(row["invocation_id"]),
        conversation_id=str(row["conversation_id"]),
        question=str(row["query"]),
        timestamp=parse_time(str(row["said_at"])),
        considered=_CONSIDERED.validate_json(str(row["considered"])),
    )


def to_summary(row: Row) -> InvocationSummary:
    """An invocation for an answer."""
    return InvocationSummary(
        id=str(row["invocation_id"]),
        query=str(row["query"]),
        summary=str(row["summary"]),
        result=str(row["result"]),
        speaker=str(row["speaker"]),
        timestamp=parse_time(str(row["said_at"])),
        metadata=json.loads(str(row["metadata"] or "{}")),
        extract_facts=not row["no_facts"],
        record_episode=not row["no_episode"],
    )


def characters_of(row: Row) -> int:
    """About how many characters an invocation takes in an answer."""
    return _FRAME + sum(len(str(row[name] or "")) for name in ("invocation_id", *CONTENT))
