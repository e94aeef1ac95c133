"""The memory calls of the client, one class for each kind of memory.

Every call raises `InvalidRequestError` for an argument that cannot be used, `CallFailedError` when
the service answers with an error, `DeadlineExceededError` when no answer comes in time, and
`BusError` when the broker does not take the request.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from fourtier.client.paging import read_pages
from fourtier.client.requests import new_request
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import (
    DIALOGUE_RECORDED,
    END_CONVERSATION,
    GET_CONVERSATION,
    GET_RUN,
    LIST_CONVERSATIONS,
    ConversationMemory,
    DialogueTurn,
    GetRunResponse,
    InvocationSummary,
    ListConversationsResponse,
)
from fourtier.schema.episodes import (
    GET_EPISODE,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    Episode,
    ListEpisodesResponse,
    Result,
)
from fourtier.schema.facts import (
    GET_FACT,
    LIST_FACTS,
    LIST_NAMES,
    REINDEX_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    Fact,
    ListFactsResponse,
    ListNamesResponse,
    MentionedName,
    ReindexFactsRequest,
    ReindexFactsResponse,
    StoreFactResponse,
)
from fourtier.schema.message import Answer, Scope, Scoped
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Scoped)
A = TypeVar("A", bound=Answer)


class ScopedCalls:
    """Base of the memory calls: each is about the memory of one scope."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def _pages(
        self,
        call: Call[Q, A],
        scope: Scope,
        items: str,
        limit: int,
        offset: int,
        **fields: Any,
    ) -> A:
        """Ask for a list, in as many pages as it takes; see `read_pages`."""

        async def read(limit: int, offset: int) -> A:
            return await self._call(call, scope, limit=limit, offset=offset, **fields)

        return await read_pages(read, items, limit, offset)

    async def _call(self, call: Call[Q, A], scope: Scope, **fields: Any) -> A:
        """Ask a service about a scope.

        Raises:
            InvalidRequestError: an argument cannot be used.
            CallFailedError: the service answered with an error.
            DeadlineExceededError: no answer before the call's deadline.
            BusError: the broker did not take the request.
        """
        request = new_request(
            call.topic.payload, user=scope.user, collection=scope.collection, **fields
        )
        return await self._caller.call(call, request)


class Facts(ScopedCalls):
    """Long-term facts of a scope."""

    async def store(
        self,
        scope: Scope,
        content: str,
        *,
        source: str = "",
        speaker: str = "",
        timestamp: datetime | None = None,
    ) -> StoreFactResponse:
        """Store a statement; returns when it is on disk.

        Args:
            scope: whose memory.
            content: the statement, as it was said.
            source: where it comes from, such as the id of a run.
            speaker: who said it.
            timestamp: when it was said, with a time zone; now if it is left out.
        """
        return await self._call(
            STORE_FACT,
            scope,
            content=content,
            source=source,
            speaker=speaker,
            timestamp=timestamp or datetime.now(UTC),
        )

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        top_k: int = 5,
        include_superseded: bool = False,
        mentions: Sequence[str] = (),
    ) -> tuple[Fact, ...]:
        """Find facts by meaning and by words, best first; `top_k` of them at most.

        With `mentions` only facts that mention at least one of these names, in capitals or not.
        """
        found = await self._call(
            RETRIEVE_FACTS,
            scope,
            query=query,
            top_k=top_k,
            include_superseded=include_superseded,
            mentions=tuple(mentions),
        )
        return found.facts

    async def names(
        self, scope: Scope, *, limit: int = 100, offset: int = 0, with_name: str = ""
    ) -> tuple[MentionedName, ...]:
        """The names that valid facts mention; see `list_names`."""
        listed = await self.list_names(scope, limit=limit, offset=offset, with_name=with_name)
        return listed.names

    async def list_names(
        self, scope: Scope, *, limit: int = 100, offset: int = 0, with_name: str = ""
    ) -> ListNamesResponse:
        """Read names that valid facts mention, the most frequent first, and how many there are.

        Args:
            scope: whose memory.
            limit: how many names at most.
            offset: how many to skip.
            with_name: only those that some fact mentions together with this one.
        """
        return await self._pages(LIST_NAMES, scope, "names", limit, offset, with_name=with_name)

    async def get(self, scope: Scope, fact_id: str) -> Fact | None:
        """Read one fact; None when the scope does not have it."""
        return (await self._call(GET_FACT, scope, fact_id=fact_id)).fact

    async def list(
        self,
        scope: Scope,
        *,
        limit: int = 100,
        offset: int = 0,
        include_superseded: bool = False,
    ) -> ListFactsResponse:
        """Read facts, newest first, and how many there are in all."""
        return await self._pages(
            LIST_FACTS, scope, "facts", limit, offset, include_superseded=include_superseded
        )

    async def reindex(self, cursor: str = "") -> ReindexFactsResponse:
        """Write the next part of the index from the graph, for all users.

        Begin without a cursor, and repeat with the cursor of the answer until it is empty. A part
        that is written twice changes nothing.
        """
        return await self._caller.call(REINDEX_FACTS, ReindexFactsRequest(cursor=cursor))


class Episodes(ScopedCalls):
    """Past problem-solving of a scope."""

    async def search(
        self, scope: Scope, query: str, *, top_k: int = 3, result: Result | None = None
    ) -> tuple[Episode, ...]:
        """Find episodes by their goal, best first; `result` selects those that ended so."""
        found = await self._call(RETRIEVE_EPISODES, scope, query=query, top_k=top_k, result=result)
        return found.episodes

    async def get(self, scope: Scope, episode_id: str) -> Episode | None:
        """Read one episode; None when there is no such episode."""
        return (await self._call(GET_EPISODE, scope, episode_id=episode_id)).episode

    async def list(
        self, scope: Scope, *, limit: int = 100, offset: int = 0
    ) -> ListEpisodesResponse:
        """Read episodes, newest first, and how many there are in all."""
        return await self._pages(LIST_EPISODES, scope, "episodes", limit, offset)


class Conversations(ScopedCalls):
    """Conversation records of a scope."""

    async def get(self, scope: Scope, conversation_id: str) -> ConversationMemory:
        """Read a whole record; an unknown conversation has no invocations."""
        invocations: list[InvocationSummary] = []
        offset: int | None = 0
        while True:
            page = await self._call(
                GET_CONVERSATION, scope, conversation_id=conversation_id, offset=offset
            )
            invocations += page.conversation.invocations
            offset = page.next_offset
            if offset is None:
                return page.conversation.model_copy(update={"invocations": tuple(invocations)})

    async def run(self, scope: Scope, run_id: str = "") -> GetRunResponse:
        """What was considered for a run, by default for the newest that used memory."""
        return await self._call(GET_RUN, scope, run_id=run_id)

    async def list(
        self, scope: Scope, *, limit: int = 100, offset: int = 0
    ) -> ListConversationsResponse:
        """Read conversations, last touched first, and how many there are in all."""
        return await self._pages(LIST_CONVERSATIONS, scope, "conversations", limit, offset)

    async def end(self, scope: Scope, conversation_id: str) -> bool:
        """End a conversation, so that it is promoted; returns whether there was one to end."""
        return (await self._call(END_CONVERSATION, scope, conversation_id=conversation_id)).ended

    async def record(self, turn: DialogueTurn) -> None:
        """Hand in a turn of past dialogue; returns once the broker has it."""
        await self._caller.publish(DIALOGUE_RECORDED, turn, message_id=turn.turn_id)
