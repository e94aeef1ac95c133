"""A fact as the graph stores it, and the ways from a request and to an answer."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self, cast

from fourtier.engines.graph.protocol import Value
from fourtier.engines.timestamps import as_moment, as_text
from fourtier.memory.facts.identity import fact_id
from fourtier.schema.facts import Fact, FactKind, StoreFactRequest

#: Stands for "still valid" in a graph without nulls.
OPEN = ""


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One fact node. All values are plain, times are sortable texts.

    Attributes:
        slot: facts of one slot may be about the same thing; empty for one that is about none.
        first_stated_at: since when it is known.
        stated_at: when it was said last; decides which fact of a slot is the newest.
        valid_until: when a newer one superseded it; `OPEN` while it is valid.
    """

    id: str
    content: str
    source: str
    kind: str
    speaker: str
    invocation_id: str
    quote: str
    subject: str
    attribute: str
    slot: str
    first_stated_at: str
    stated_at: str
    valid_until: str
    superseded_by: str
    metadata: str

    @classmethod
    def from_request(cls, request: StoreFactRequest, now: datetime) -> Self:
        """A new fact, not yet in a slot."""
        identity = fact_id(request.scope, request.speaker, request.content)
        stated_at = as_text(request.timestamp or now)
        return cls(
            id=identity,
            content=request.content.strip(),
            source=request.source,
            kind=request.kind,
            speaker=request.speaker,
            invocation_id=request.invocation_id,
            quote=request.quote,
            subject=request.subject,
            attribute=request.attribute,
            slot="",
            first_stated_at=stated_at,
            stated_at=stated_at,
            valid_until=OPEN,
            superseded_by="",
            metadata=json.dumps(request.metadata, sort_keys=True),
        )

    @classmethod
    def from_row(cls, row: dict[str, Value]) -> Self:
        """From a row that has every attribute under its own name."""
        return cls(**{name: cast("str", row[name]) for name in cls.__slots__})

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def valid(self) -> bool:
        """Whether nothing newer is known."""
        return self.valid_until == OPEN

    def stated_again(self, other: Self) -> Self:
        """The same fact after it was said again; whatever the order in which the two came."""
        newest = max(self, other, key=_said)
        subject, attribute = max((self.subject, self.attribute), (other.subject, other.attribute))
        return replace(
            newest,
            subject=subject,
            attribute=attribute,
            first_stated_at=min(self.first_stated_at, other.first_stated_at),
        )

    def to_fact(self, score: float | None = None) -> Fact:
        """For an answer."""
        return Fact(
            id=self.id,
            content=self.content,
            source=self.source,
            timestamp=as_moment(self.stated_at),
            kind=cast("FactKind", self.kind),
            speaker=self.speaker,
            invocation_id=self.invocation_id,
            quote=self.quote,
            valid_from=as_moment(self.first_stated_at),
            valid_until=as_moment(self.valid_until) if self.valid_until else None,
            superseded_by=self.superseded_by or None,
            score=score,
            metadata=json.loads(self.metadata),
        )


def _said(record: FactRecord) -> tuple[str, ...]:
    """What was said last, without doubt between two that were said at one time."""
    return (
        record.stated_at,
        record.content,
        record.source,
        record.invocation_id,
        record.quote,
        record.speaker,
        record.kind,
        record.metadata,
    )
