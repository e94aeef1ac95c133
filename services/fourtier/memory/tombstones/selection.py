"""What a request wants to have forgotten."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self, TypeVar

from fourtier.memory.statements.text import shorten
from fourtier.memory.tombstones.subject import Kind, Subject, exchange
from fourtier.schema.erasure import Erased, EraseRequest, EraseResponse
from fourtier.schema.message import MAX_ITEMS, Scope

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Characters of a memory in an answer.
_GIST = 300
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories of a scope, see `EraseRequest`.

    Attributes:
        containing: texts as `plain` makes them; none is empty.
    """

    ids: Sequence[str]
    conversation_id: str
    invocation_ids: Sequence[str]
    containing: Sequence[str]
    everything: bool
    document: str = ""
    prompted_with: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: EraseRequest) -> Self:
        """What a request selects."""
        texts = [plain(text) for text in request.containing]
        return cls(
            ids=request.ids,
            conversation_id=request.conversation_id,
            invocation_ids=request.invocation_ids,
            containing=[text for text in texts if text.strip()],
            everything=request.everything,
            document=request.document,
            prompted_with=frozenset(request.prompted_with),
        )

    def fits(self, text: str) -> bool:
        """Whether a text contains one of the texts, word for word."""
        if not self.containing:
            return False
        searched = plain(text)
        return any(wanted in searched for wanted in self.containing)

    def subjects(self, scope: Scope, kind: Kind) -> list[Subject]:
        """What is named in it, and so has a tombstone also where nothing of it is stored."""
        found = [Subject(scope, kind, (each,)) for each in self.ids]
        if self.conversation_id and self.invocation_ids:
            for each in self.invocation_ids:
                found += exchange(scope, self.conversation_id, each)
        elif self.conversation_id:
            found.append(Subject(scope, "conversation", (self.conversation_id,)))
        if self.document:
            found.append(Subject(scope, "document", (self.document,)))
        if self.everything:
            found.append(Subject(scope, "scope"))
        return found


#: All memories of a scope.
EVERYTHING = Selection(
    ids=(), conversation_id="", invocation_ids=(), containing=(), everything=True
)


def plain(text: str) -> str:
    """The words of a text, with a space around each: "My PIN, is 12." becomes " my pin is 12 "."""
    words = _MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return f" {words} "


class Forgets(Protocol[T_co]):
    """What a service with a store does with a selection."""

    async def selected(self, scope: Scope, selection: Selection, until: datetime) -> Sequence[T_co]:
        """The memories that a selection names or fits, of what was said until then."""
        ...

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> Sequence[T_co]:
        """Forget what is selected and what may still come of it; returns what there was."""
        ...


async def answer_erase(
    request: EraseRequest, at: datetime, memories: Forgets[T], tell: Callable[[T], Erased]
) -> EraseResponse:
    """Do what a request wants; the answer has as many memories as fit, with their beginnings.

    Args:
        request: with `dry_run` nothing is changed.
        at: when it was sent; what was said later stays.
        memories: of the service.
        tell: a memory as the answer has it.
    """
    do = memories.selected if request.dry_run else memories.erase
    found = await do(request.scope, Selection.of(request), at)
    return EraseResponse(
        number=len(found), erased=tuple(_beginning(tell(each)) for each in found[:MAX_ITEMS])
    )


def _beginning(memory: Erased) -> Erased:
    return memory.model_copy(update={"content": shorten(memory.content, _GIST)})
