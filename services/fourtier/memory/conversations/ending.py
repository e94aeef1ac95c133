"""The end of conversations: by a call, by being idle, and what happens when one goes on.

An end is a state of the record, not the end of the conversation's name. `conversation.ended` says:
up to here the record is complete, promote it.

- **Publish, then mark.** The event is out, with the broker's receipt, before the conversation is
  marked as ended. After a crash between the two, the call comes again or the next sweep finds the
  conversation as it was, and publishes once more, with the same message id: it is made from the
  conversation and the state of its record, so the repetition is recognised. Two replicas that sweep
  at once publish the same id as well.
- **Ending twice.** An ended conversation that is ended again answers `ended=False`, and so does one
  that nobody knows.
- **Going on.** A new invocation, or a changed one, reopens the conversation; a later end publishes
  again, with another id, because the record is another. A repeated message reopens nothing.
- **Grown meanwhile.** What is added between publishing and marking keeps its conversation open:
  the mark only holds for the state that was published.
- **Coming late.** A run may be over before the end was asked for, and its event arrive after it. It
  reopens the conversation too, but does not mean that somebody goes on: the next sweep publishes
  the end again, with its old time and reason and the whole record.
- **Idle** counts from the last recording, by this service's clock, and not from when something was
  said: past dialogue that is being imported is not idle. The time is in the graph, so it
  outlasts a restart.
"""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.conversations.records import ConversationKey, ConversationState
from fourtier.memory.conversations.store import ConversationStore
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import CONVERSATION_ENDED, ConversationEnded

log = logging.getLogger(__name__)

BY_CALL = "call"
BY_IDLENESS = "idle"
#: How many conversations a sweep publishes before it marks them.
_MAX_UNMARKED = 50


class Ending:
    """Ends conversations and tells of it."""

    def __init__(self, store: ConversationStore, caller: Caller, idle: timedelta) -> None:
        self._store = store
        self._caller = caller
        self._idle = idle

    async def end(self, key: ConversationKey) -> bool:
        """End a conversation by a call; whether there was anything to end."""
        state = await self._store.state(key)
        if state is None or state.ended:
            return False
        ended = await self._publish(state, datetime.now(UTC), BY_CALL)
        await self._store.mark_ended([ended])
        return True

    async def sweep(self) -> None:
        """End what is idle, and end again what something was late for."""
        while due := await self._store.due(datetime.now(UTC) - self._idle, _MAX_UNMARKED):
            await self._store.mark_ended([await self._end_due(state) for state in due])
            if len(due) < _MAX_UNMARKED:
                return

    async def _end_due(self, state: ConversationState) -> ConversationState:
        if state.late:
            return await self._publish(state, parse_time(state.ended_at), state.ended_reason)
        return await self._publish(state, parse_time(state.recorded_at) + self._idle, BY_IDLENESS)

    async def _publish(
        self, state: ConversationState, ended_at: datetime, reason: str
    ) -> ConversationState:
        """Tell of an end; returns what is to be marked once the broker has the event."""
        key = state.key
        event = ConversationEnded(
            user=key.scope.user,
            collection=key.scope.collection,
            conversation_id=key.conversation_id,
            ended_at=ended_at,
            reason=reason,
        )
        message_id = f"conversation-ended/{key.id}/{state.recorded_at}"
        await self._caller.publish(CONVERSATION_ENDED, event, message_id=message_id)
        log.info(
            "The conversation %s has ended (%s).",
            key.conversation_id,
            reason,
            extra={"user": key.scope.user, "collection": key.scope.collection, "reason": reason},
        )
        return replace(
            state,
            ended_state=state.recorded_at,
            ended_at=as_text(ended_at),
            ended_reason=reason,
        )
