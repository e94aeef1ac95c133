"""A whole conversation: what promotion learns from, read from its record page by page."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fourtier.memory.learning.origin import Origin, is_turn, origin_of
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    ConversationEnded,
    GetConversationMemoryRequest,
    InvocationSummary,
)
from fourtier.schema.message import MAX_ITEMS

log = logging.getLogger(__name__)

#: A conversation of one invocation has no more to tell than that invocation.
MIN_INVOCATIONS = 2
#: Characters of what was said, and of what the agent did and answered, that promotion reads of one
#: invocation; and of all invocations, which is what it holds in memory.
_MAX_SAID, _MAX_ANSWERED, _MAX_READ = 10_000, 2_000, 5_000_000


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that has ended, with at least one invocation, the oldest first."""

    event: ConversationEnded
    invocations: Sequence[InvocationSummary]

    @property
    def wants_facts(self) -> bool:
        """Whether facts are to be made of any of it."""
        return any(invocation.extract_facts for invocation in self.invocations)

    @property
    def wants_episode(self) -> bool:
        """Whether an agent did something, and none of it is to be left out of episodes.

        Talk between people attempts nothing: no task goes better because somebody knows of it.
        """
        enough = len(self.invocations) >= MIN_INVOCATIONS
        wanted = all(invocation.record_episode for invocation in self.invocations)
        return enough and wanted and not all(map(is_turn, self.invocations))

    def has_all_of(self, before: "Conversation") -> bool:
        """Whether nothing was forgotten of what it had before."""
        return {each.id for each in before.invocations} <= {each.id for each in self.invocations}

    @property
    def origin(self) -> Origin:
        """Where the episode of all of it comes from; dated by what happened last."""
        return origin_of(
            self.event,
            self.invocations[-1].timestamp,
            metadata={
                "conversation_id": self.event.conversation_id,
                "invocations": len(self.invocations),
            },
        )


async def read_conversation(
    caller: Caller, event: ConversationEnded, max_invocations: int
) -> Conversation:
    """Read the record from its beginning; of a very long one what comes later is left out.

    Of a user who has opted out nothing is read.

    Raises:
        CallFailedError, DeadlineExceededError: the record cannot be read.
    """
    invocations: list[InvocationSummary] = []
    room, offset = _MAX_READ, 0
    while True:
        answer = await caller.call(
            GET_CONVERSATION,
            GetConversationMemoryRequest(
                user=event.user,
                collection=event.collection,
                conversation_id=event.conversation_id,
                offset=offset,
                limit=min(MAX_ITEMS, max_invocations - len(invocations)),
            ),
        )
        if answer.opted_out:
            return Conversation(event, ())
        for invocation in map(_cut, answer.conversation.invocations):
            room -= len(invocation.query) + len(invocation.summary) + len(invocation.result)
            if room < 0:
                break
            invocations.append(invocation)
        if answer.next_offset is None:
            return Conversation(event, invocations)
        offset = answer.next_offset
        if room < 0 or len(invocations) >= max_invocations:
            log.warning(
                "%s is promoted by its first %d invocations: there are more (max-invocations).",
                event.conversation_id,
                len(invocations),
                extra={"user": event.user, "collection": event.collection},
            )
            return Conversation(event, invocations)


def _cut(invocation: InvocationSummary) -> InvocationSummary:
    return invocation.model_copy(
        update={
            "query": invocation.query[:_MAX_SAID],
            "summary": invocation.summary[:_MAX_ANSWERED],
            "result": invocation.result[:_MAX_ANSWERED],
        }
    )
