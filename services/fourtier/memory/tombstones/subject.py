"""What can be forgotten, and the names of tombstones."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fourtier.schema.message import Scope

_NAMESPACE = uuid.UUID("c9a51b36-0f0e-5f0b-9a41-52f1f5f6d0d3")

#: `record`: what is made of the whole of a conversation, and so of all that was said in it.
Kind = Literal["scope", "conversation", "record", "invocation", "fact", "episode", "document"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something of a scope that can be forgotten.

    Attributes:
        names: its ids, those of what it is a part of first; none for the whole scope.
    """

    scope: Scope
    kind: Kind
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name of its tombstone: it tells neither the user nor what it is about."""
        return str(uuid.uuid5(_NAMESPACE, json.dumps([*self.scope, self.kind, *self.names])))


def origins(scope: Scope, conversation_id: str, invocation_id: str) -> list[Subject]:
    """By what everything can be forgotten that was learned in a place; the ids may be empty."""
    found = [Subject(scope, "scope")]
    if conversation_id:
        found.append(Subject(scope, "conversation", (conversation_id,)))
        if invocation_id:
            found.append(Subject(scope, "invocation", (conversation_id, invocation_id)))
    return found


def of_block(scope: Scope, document: str, block: str) -> list[Subject]:
    """By what a block of a document can be forgotten: alone, with it, or with all of the scope."""
    return [
        Subject(scope, "scope"),
        Subject(scope, "document", (document,)),
        Subject(scope, "document", (document, block)),
    ]


def exchange(scope: Scope, conversation_id: str, invocation_id: str) -> list[Subject]:
    """What can have been learned from an exchange alone, and from its conversation as a whole.

    There is none of either where the ids are empty.
    """
    if not conversation_id or not invocation_id:
        return []
    return [
        Subject(scope, "invocation", (conversation_id, invocation_id)),
        Subject(scope, "record", (conversation_id,)),
    ]


@dataclass(frozen=True, slots=True)
class Said:
    """Something that is to be stored.

    Attributes:
        at: when it was said, as the stores write times.
        subjects: by what it can be forgotten.
        learned_at: of what was made of a whole conversation, when its record was read; else empty.
        record: that conversation's record, if any.
    """

    at: str
    subjects: Sequence[Subject]
    learned_at: str = ""
    record: Subject | None = None

    @property
    def times(self) -> Sequence[tuple[Subject, str]]:
        """By what it can be forgotten, and the time from which a tombstone of that does so."""
        found = [(subject, self.at) for subject in self.subjects]
        if self.record is not None and self.learned_at:
            found.append((self.record, self.learned_at))
        return found


def said(
    scope: Scope,
    at: str,
    conversation_id: str,
    invocation_id: str,
    *more: Subject,
    learned_at: str = "",
) -> Said:
    """Something that was said or learned in a place; the ids may be empty."""
    return Said(
        at,
        [*origins(scope, conversation_id, invocation_id), *more],
        learned_at,
        Subject(scope, "record", (conversation_id,)) if conversation_id else None,
    )
