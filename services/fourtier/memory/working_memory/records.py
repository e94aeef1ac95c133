"""A run and its items as the graph stores them, and the ways from and to messages."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.working_memory.compression import Condensed, characters_of
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.service.stores.graph import Value
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import InRun, WorkingMemoryItem

#: What one run may store: all of it is read whenever something is added.
MAX_RUN_ITEMS, MAX_RUN_CHARACTERS = 5_000, 10_000_000
#: Stands for the answer of a run that was forgotten, so that the request, when it comes again, is
#: answered and not run again with its tools.
FORGOTTEN = "What was asked here was forgotten."
_NAMESPACE = uuid.UUID("c1d5b5d2-52a5-5b0e-8a0f-5b9f3f0f6a17")


class RunKey(NamedTuple):
    """Which run: two users may give theirs the same id, and they stay two."""

    scope: Scope
    run_id: str

    @classmethod
    def of(cls, message: InRun) -> Self:
        """The run that a message is about."""
        return cls(message.scope, message.run_id)

    @property
    def id(self) -> str:
        """Its name among the runs of all scopes."""
        return str(uuid.uuid5(_NAMESPACE, json.dumps([*self.scope, self.run_id])))

    def item_id(self, item: WorkingMemoryItem) -> str:
        """An item's name among the items of all runs."""
        return str(uuid.uuid5(_NAMESPACE, json.dumps([self.id, item.id])))


@dataclass(slots=True)
class RunRecord:
    """A run as it is stored, and what has been changed in it since it was read.

    Attributes:
        answer: of a run that has ended; stays when the items are discarded.
        question_id: names the question; empty for a run without one.
        forgotten: it was forgotten while it was under way; its answer will not be stored.
        discarded: the run is over and memory has learned of it; it takes no more items.
        known: the ids of the items that are on disk; None for a run that is not.
        read_at: when the run had been written last; another time tells of another writer.
        changed: the items to be written, by their id.
        state_changed: whether the run itself is to be written.
    """

    key: RunKey
    items: dict[str, WorkingMemoryItem] = field(default_factory=dict)
    condensed: Condensed = field(default_factory=Condensed)
    answer: str | None = None
    question_id: str = ""
    forgotten: bool = False
    discarded: bool = False
    known: frozenset[str] | None = None
    read_at: str = ""
    changed: dict[str, WorkingMemoryItem] = field(default_factory=dict)
    state_changed: bool = False

    def add(self, items: Sequence[WorkingMemoryItem]) -> None:
        """Take up items, or replace those with the same id; the same item again changes nothing.

        A run that was discarded takes none: they belong to a message that was delivered again.

        Raises:
            PermanentError: the run has more items, or longer ones, than a run may have.
        """
        if self.discarded:
            return
        for item in items:
            if self.items.get(item.id) == item:
                continue
            self.items[item.id] = self.changed[item.id] = item
            if item.type == "answer":
                self.answer = item.content
            if item.step <= self.condensed.through:
                self.condensed = Condensed()  # it tells of a step that is another now
        if len(self.items) > MAX_RUN_ITEMS:
            raise PermanentError(f"a run has at most {MAX_RUN_ITEMS} items in working memory")
        if sum(map(characters_of, self.items.values())) > MAX_RUN_CHARACTERS:
            raise PermanentError(
                f"the items of a run have at most {MAX_RUN_CHARACTERS} characters in working memory"
            )

    def show(self, condensed: Condensed) -> None:
        """Let a text stand for the older steps from now on."""
        if condensed != self.condensed:
            self.condensed = condensed
            self.state_changed = True

    @property
    def is_known(self) -> bool:
        """Whether the run is on disk."""
        return self.known is not None

    def knows(self, item: WorkingMemoryItem) -> bool:
        """Whether an item with this id is on disk."""
        return self.known is not None and item.id in self.known

    def discard(self) -> None:
        """Drop the items and what was made of them."""
        self.items.clear()
        self.condensed = Condensed()
        self.discarded = True

    def to_row(self, touched_at: str) -> dict[str, Value]:
        """For a statement's parameter."""
        return {
            "id": self.key.id,
            "scope": self.key.scope.key,
            "run_id": self.key.run_id,
            "condensed": self.condensed.text,
            "condensed_through": self.condensed.through,
            "ended": self.answer is not None,
            "answer": FORGOTTEN if self.forgotten else self.answer or "",
            "question_id": "" if self.forgotten else self.question_id,
            "discarded": self.discarded,
            "touched_at": touched_at,
            "read_at": self.read_at,
        }

    def item_row(self, item: WorkingMemoryItem) -> dict[str, Value]:
        """For a statement's parameter."""
        return {
            "run": self.key.id,
            "id": self.key.item_id(item),
            "scope": self.key.scope.key,
            "item_id": item.id,
            "step": item.step,
            "type": item.type,
            "content": item.content,
            "written_at": as_text(item.timestamp),
            "metadata": json.dumps(item.metadata, sort_keys=True),
        }


def to_item(row: dict[str, Value]) -> WorkingMemoryItem:
    """An item from its row."""
    return WorkingMemoryItem.model_validate(
        {
            "id": row["item_id"],
            "step": row["step"],
            "type": row["type"],
            "content": row["content"],
            "timestamp": parse_time(str(row["written_at"])),
            "metadata": json.loads(str(row["metadata"])),
        }
    )
