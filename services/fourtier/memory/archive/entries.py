"""Entries of the archive: what a run, a turn or a document says, word for word."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Self, cast

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.models.text.tokens import count_tokens
from fourtier.runtime.service.stores.graph import Row, Value
from fourtier.schema.agent import MEMORY_TOOL_NAMES, AgentStep, InvocationEnded
from fourtier.schema.archive import ArchiveEntry, SourceKind, StoreDocumentRequest
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import ASSISTANT, Scope

_NAMESPACE = uuid.UUID("3d7b54a9-6c0e-5b64-8f5e-2b0c8a1f97d3")
BLOCK = "block"
#: How many names are kept: an entry is asked for its own some ten times while it is written, and so
#: are those beside it.
_NAMES = 8_192


@dataclass(frozen=True, slots=True)
class Source:
    """What entries come from: a conversation, or a document."""

    scope: Scope
    kind: SourceKind
    name: str

    @property
    def id(self) -> str:
        """Its name among the sources of all scopes."""
        return named(self.scope.key, self.kind, self.name)

    @classmethod
    def of_page(cls, scope: Scope, row: Row) -> Self:
        """That of a page, from a row with its `kind` and `source`."""
        return cls(scope, cast("SourceKind", row["kind"]), str(row["source"]))

    @property
    def is_document(self) -> bool:
        """Whether its entries are blocks, which know their places."""
        return self.kind == "document"

    def block_id(self, number: int) -> str:
        """The id of a block of a document."""
        return named(self.id, block_name(number), BLOCK)

    def page_id(self, number: int) -> str:
        """The name of one of its pages among those of all sources."""
        return named(self.id, "page", str(number))


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was said or read. Times are sortable texts.

    Attributes:
        invocation_id: of the run or the turn; it can be forgotten by it. The number of a block.
        part: which part of that it is.
        said_at: when it was said.
        sent_at: when the message was sent that it came in: of two texts of one entry the later one
            counts.
        page: the number of its page.
        position: its place among the entries of its source; blocks come with it.
    """

    source: Source
    invocation_id: str
    part: str
    speaker: str
    text: str
    said_at: str
    sent_at: str
    page: int = 0
    position: int = 0

    @property
    def id(self) -> str:
        """The same whenever this part of this invocation comes; another in each scope."""
        return named(self.source.id, self.invocation_id, self.part)

    @property
    def page_id(self) -> str:
        """Of its page."""
        return self.source.page_id(self.page)

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return count_tokens(self.text)

    def at(self, page: int, position: int) -> Self:
        """The entry in its place."""
        return replace(self, page=page, position=position)

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        return {
            "id": self.id,
            "scope": self.source.scope.key,
            "kind": self.source.kind,
            "source": self.source.name,
            "page_id": self.page_id,
            "page": self.page,
            "position": self.position,
            "invocation_id": self.invocation_id,
            "part": self.part,
            "speaker": self.speaker,
            "text": self.text,
            "said_at": self.said_at,
            "sent_at": self.sent_at,
        }

    @classmethod
    def from_row(cls, scope: Scope, row: Row) -> Self:
        """From a row that has every part under its own name."""
        text = {name: str(row[name]) for name in ("invocation_id", "part", "speaker", "text")}
        return cls(
            Source(scope, cast("SourceKind", row["kind"]), str(row["source"])),
            **text,
            said_at=str(row["said_at"]),
            sent_at=str(row["sent_at"]),
            page=int(row["page"]),
            position=int(row["position"]),
        )

    def to_message(self) -> ArchiveEntry:
        """For an answer."""
        return ArchiveEntry(
            id=self.id,
            page_id=self.page_id,
            source=self.source.name,
            source_kind=self.source.kind,
            invocation_id=self.invocation_id,
            part=self.part,
            speaker=self.speaker,
            content=self.text,
            timestamp=parse_time(self.said_at),
        )


@lru_cache(maxsize=_NAMES)
def named(*parts: str) -> str:
    """A UUID made from names, none of which can be taken for two."""
    return str(uuid.uuid5(_NAMESPACE, "\n".join(f"{len(part)}:{part}" for part in parts)))


def block_name(number: int) -> str:
    """What a block is called in its document."""
    return f"{BLOCK}-{number}"


def of_part(part: StoreDocumentRequest, sent_at: datetime) -> list[Entry]:
    """The blocks of a part of a document, which are from no later than when it was sent."""
    source = Source(part.scope, "document", part.document)
    from_when = as_text(min(part.timestamp or sent_at, sent_at))
    version = as_text(min(part.version or sent_at, sent_at))
    return [
        Entry(
            source,
            block_name(number),
            BLOCK,
            part.document,
            text,
            from_when,
            version,
            position=number,
        )
        for number, text in enumerate(part.blocks, start=part.first)
    ]


def of_turn(turn: DialogueTurn, sent_at: datetime) -> Entry:
    """What somebody said in imported dialogue."""
    source = Source(turn.scope, "conversation", turn.conversation_id)
    said_at, sent = as_text(turn.timestamp), as_text(sent_at)
    return Entry(source, turn.turn_id, "turn", turn.speaker, turn.content, said_at, sent)


def of_run(event: InvocationEnded, sent_at: datetime) -> Iterator[Entry]:
    """The question of a run, what its tools were asked and answered, and the answer.

    What the memory tools found is memory already, and would stay here when it is forgotten there.
    """
    source = Source(event.scope, "conversation", event.conversation_id)
    asked_at, answered_at = as_text(event.started_at), as_text(event.ended_at)

    def entry(part: str, speaker: str, text: str, said_at: str) -> Entry:
        return Entry(source, event.run_id, part, speaker, text, said_at, as_text(sent_at))

    yield entry("question", event.user, event.question, asked_at)
    for number, step in enumerate(event.steps, start=1):
        if step.action and step.action not in MEMORY_TOOL_NAMES:
            yield entry(f"step-{number}", step.action, _tool_text(step), answered_at)
    if event.answer:
        yield entry("answer", ASSISTANT, event.answer, answered_at)


def _tool_text(step: AgentStep) -> str:
    """What a tool was asked, and what it answered."""
    arguments = json.dumps(step.arguments, ensure_ascii=False) if step.arguments else ""
    return f"{step.action}({arguments})\n{step.observation}".strip()
