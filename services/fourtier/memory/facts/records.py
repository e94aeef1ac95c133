"""A fact as the graph stores it, and the ways from a request and to an answer."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self, cast

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.facts.identity import fact_id
from fourtier.memory.facts.statements import Stated, from_text, merged, to_text
from fourtier.runtime.service.stores.graph import Value
from fourtier.schema.facts import Fact, FactKind, Statement, StoreFactRequest

#: Stands for "still valid" in a graph without nulls.
OPEN = ""
#: Lists of ids, which the graph keeps as JSON; most facts have none.
_LISTS = ("replaces", "contradicts", "doubts", "possible_conflicts")


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One fact node. All values are plain, times are sortable texts.

    Attributes:
        slot: facts of one slot may be about the same thing; empty for one that is about none.
        first_stated_at: since when it is known.
        stated_at: when it was said last; decides which fact of a slot is the newest.
        valid_until: when a newer one superseded it; `OPEN` while it is valid.
        uncompared: `yes` until a model has compared it with similar facts; empty afterwards, and
            for what no model compares.
        replaces: ids of facts that it supersedes as whoever stated it understood them.
        contradicts: ids of facts that it leaves untrue where it is the newer one, each with the
            probability that a model gave; see `detection.py`.
        doubts: ids of facts that may contradict it by the same model; each of two has the other.
        possible_conflicts: ids of other valid facts that may contradict it by the rules.
        earlier: the statements before the last one, which is that of the fact itself.
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
    uncompared: str = ""
    replaces: tuple[str, ...] = ()
    contradicts: tuple[tuple[str, float], ...] = ()
    doubts: tuple[str, ...] = ()
    possible_conflicts: tuple[str, ...] = ()
    earlier: tuple[Stated, ...] = ()

    @classmethod
    def from_request(cls, request: StoreFactRequest, sent_at: datetime) -> Self:
        """A new fact, not yet in a slot; said when it was sent, unless the request says when."""
        said_at = request.timestamp or sent_at
        identity = fact_id(request.scope, request.speaker, request.content, said_at)
        stated_at = as_text(said_at)
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
            replaces=tuple(sorted({*request.replaces} - {identity})),
        )

    @classmethod
    def from_row(cls, row: dict[str, Value]) -> Self:
        """From a row that has every attribute under its own name."""
        values: dict[str, Any] = {name: row[name] for name in cls.__slots__}
        for name in _LISTS:
            values[name] = tuple(json.loads(values[name] or "[]"))
        values["contradicts"] = tuple((each, value) for each, value in values["contradicts"])
        values["earlier"] = from_text(values["earlier"])
        return cls(**values)

    def to_row(self) -> dict[str, Value]:
        """For a statement's parameter."""
        row: dict[str, Value] = {name: getattr(self, name) for name in self.__slots__}
        lists: dict[str, tuple[object, ...]] = {name: getattr(self, name) for name in _LISTS}
        texts: dict[str, Value] = {
            name: json.dumps(ids) if ids else "" for name, ids in lists.items()
        }
        return row | texts | {"earlier": to_text(self.earlier)}

    @property
    def valid(self) -> bool:
        """Whether nothing newer is known."""
        return self.valid_until == OPEN

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Ids of facts that may contradict it; those that the model found need not be valid."""
        return _union(self.possible_conflicts, self.doubts)

    @property
    def names(self) -> frozenset[str]:
        """Ids of the facts that it may supersede, beyond what the rules read."""
        return frozenset([*self.replaces, *dict(self.contradicts)])

    def compared(self, contradicts: Mapping[str, float], doubts: Collection[str]) -> Self:
        """With what a model made of it and of others."""
        return replace(
            self,
            contradicts=tuple(sorted((dict(self.contradicts) | dict(contradicts)).items())),
            doubts=_union(self.doubts, doubts),
        )

    @property
    def last(self) -> Stated:
        """The last statement."""
        return Stated(self.stated_at, self.source, self.invocation_id, self.quote, self.metadata)

    def without(self, gone: Callable[[Stated], bool]) -> Self | None:
        """The fact without some of its statements; itself where it has none of them.

        None is what is left of a fact without any.
        """
        every = (self.last, *self.earlier)
        left = [each for each in every if not gone(each)]
        if len(left) == len(every):
            return self
        if not left:
            return None
        last = max(left)
        return replace(
            self,
            source=last.source,
            invocation_id=last.invocation_id,
            quote=last.quote,
            metadata=last.metadata,
            stated_at=last.at,
            first_stated_at=min(left).at,
            earlier=merged(left, last),
        )

    def stated_again(self, other: Self) -> Self:
        """The same fact after it was said again; whatever the order in which the two came."""
        newest = max(self, other, key=_said)
        subject, attribute = max((self.subject, self.attribute), (other.subject, other.attribute))
        return replace(
            newest,
            subject=subject,
            attribute=attribute,
            first_stated_at=min(self.first_stated_at, other.first_stated_at),
            replaces=_union(self.replaces, other.replaces),
            contradicts=tuple(sorted((dict(other.contradicts) | dict(self.contradicts)).items())),
            doubts=_union(self.doubts, other.doubts),
            earlier=merged((self.last, other.last, *self.earlier, *other.earlier), newest.last),
        )

    def to_fact(self, score: float | None = None) -> Fact:
        """For an answer."""
        return Fact(
            id=self.id,
            content=self.content,
            source=self.source,
            timestamp=parse_time(self.stated_at),
            kind=cast("FactKind", self.kind),
            speaker=self.speaker,
            invocation_id=self.invocation_id,
            quote=self.quote,
            valid_from=parse_time(self.first_stated_at),
            valid_until=parse_time(self.valid_until) if self.valid_until else None,
            superseded_by=self.superseded_by or None,
            possible_conflicts=self.conflicts,
            earlier=tuple(
                Statement(
                    source=each.source,
                    invocation_id=each.invocation_id,
                    quote=each.quote,
                    timestamp=parse_time(each.at),
                )
                for each in self.earlier
            ),
            score=score,
            metadata=json.loads(self.metadata),
        )


def _union(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*some, *others}))


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
