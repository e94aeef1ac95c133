"""What a method makes of a page."""

from dataclasses import dataclass
from typing import Protocol

from fourtier.memory.memoriser.page import ClosedPage
from fourtier.schema.archive import MemoMethod


@dataclass(frozen=True, slots=True)
class WrittenMemo:
    """The text of a memo, and what it is made with.

    Attributes:
        model: the name of the model that wrote it.
        shown: the ids of the memos that it was shown.
    """

    content: str
    method: MemoMethod
    model: str = ""
    shown: tuple[str, ...] = ()


class Method(Protocol):
    """A way to make memos."""

    async def write(self, page: ClosedPage) -> WrittenMemo:
        """Say what a page is about."""
        ...
