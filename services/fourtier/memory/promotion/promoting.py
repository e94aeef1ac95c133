"""What a method of promotion gives, whichever it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fourtier.schema.conversations import ConversationEnded, InvocationSummary
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

#: A conversation of one invocation has no more to tell than that invocation.
LEAST_INVOCATIONS = 2


@dataclass(frozen=True, slots=True)
class Promoted:
    """What is to be kept of a whole conversation."""

    facts: tuple[StoreFactRequest, ...] = ()
    episode: StoreEpisodeRequest | None = None


class Method(Protocol):
    """A way to find what lasts in a conversation."""

    async def promote(
        self, event: ConversationEnded, invocations: Sequence[InvocationSummary]
    ) -> Promoted:
        """Find facts and the episode; there is at least one invocation, the oldest first."""
        ...
