"""The statements of one fact: a fact remains for as long as one of them does.

The one that was said last is the fact's own; those before it are kept beside it, each with where it
was said and in which words. So whoever forgets a conversation forgets what was said only there.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

#: Statements besides the last one that are kept of a fact, the latest of them.
MAX_EARLIER = 20


class Stated(NamedTuple):
    """One time that a fact was said; the later is the greater.

    Attributes:
        at: when it was said.
        metadata: as JSON text.
    """

    at: str
    source: str
    invocation_id: str
    quote: str
    metadata: str

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells it from others: told of again, it is the same statement."""
        return self.at, self.source, self.invocation_id


def merged(statements: Iterable[Stated], last: Stated) -> tuple[Stated, ...]:
    """Those before the last one, each once, the latest first, whatever their order was."""
    by_place = {each.place: each for each in sorted(statements)}
    by_place.pop(last.place, None)
    return tuple(sorted(by_place.values(), reverse=True))[:MAX_EARLIER]


def to_text(statements: Iterable[Stated]) -> str:
    """For a property of the graph; empty where there are none."""
    rows = [list(each) for each in statements]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def from_text(text: str) -> tuple[Stated, ...]:
    """From a property of the graph."""
    return tuple(Stated(*row) for row in json.loads(text or "[]"))


def in_text(conversation_id: str) -> str:
    """How a conversation stands in the property."""
    return json.dumps(conversation_id, ensure_ascii=False)
