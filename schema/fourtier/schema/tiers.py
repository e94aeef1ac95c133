"""The tiers of memory, and what was considered of each for a run."""

from typing import Literal

from pydantic import Field

from fourtier.schema.archive import Legs
from fourtier.schema.message import MAX_OFFSET, Message, OptionalName

Tier = Literal["facts", "archive", "episodes", "conversation", "working-memory"]


class MemoryConsidered(Message):
    """A memory that was found for a run, and whether it stands in the prompt.

    Facts, entries and episodes stand in one ranking; `rank` is the place there, 1 the best, and
    what was said at once shares it. `score` and `legs` are those of the tier's own search. `shown`
    says what stands there: all of it, a part, the turn that says it (`in-entry`), or nothing of
    it, because the conversation has it anyway (`in-conversation`), another one says the same word
    for word (`repeated`), the budget of tokens was used up (`budget`), or it no longer holds
    (`outdated`). There are no words of it here: `tier` and
    `id` find them as long as they are not forgotten.
    """

    tier: Tier
    id: OptionalName
    shown: Literal["whole", "cut", "in-entry", "in-conversation", "repeated", "budget", "outdated"]
    rank: int | None = Field(default=None, le=MAX_OFFSET)
    score: float | None = None
    legs: Legs = {}
